import type { VaultUse } from './vault.ts';

/** A field name of RFC 9110 §5.1. */
export const headerNamePattern = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,64}$/;
/** Visible ASCII and spaces before a value in a header. */
export const headerPrefixPattern = /^[\x20-\x7e]{0,64}$/;
/** A user name of RFC 7617: no colon, no control characters, ASCII. */
export const userNamePattern = /^[\x20-\x39\x3b-\x7e]{0,128}$/;
export const queryNamePattern = /^[A-Za-z0-9._~-]{1,64}$/;
/** How many descriptors a job can be given: a shell names them with one digit, and the lower ones are taken. */
export const mostDescriptors = 4;

/** True for headers that say where a message goes or ends: no value goes there. */
export function isFramingHeader(name: string): boolean {
  return framingHeaders.has(name.toLowerCase());
}

const framingHeaders: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'expect',
  'forwarded',
  'host',
  'if-range',
  'keep-alive',
  'location',
  'origin',
  'proxy-connection',
  'range',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'via',
]);

/**
 * The canonical text of a use, which is part of a permission's key: `env:NAME`, `fd:NAME`,
 * `header:NAME:PREFIX@HOSTS`, `basic:USER@HOSTS`, `query:NAME@HOSTS`. Hosts and header names are in lower case, hosts
 * in order and each once, so that equal uses have equal texts. Different uses never share one: no host holds an `@`.
 */
export function vaultUseText(use: VaultUse): string {
  switch (use.kind) {
    case 'header':
      return `header:${use.name.toLowerCase()}:${use.prefix}@${hostsText(use.hosts)}`;
    case 'basic':
      return `basic:${use.user}@${hostsText(use.hosts)}`;
    case 'query':
      return `query:${use.name}@${hostsText(use.hosts)}`;
    case 'env':
    case 'fd':
      return `${use.kind}:${use.name}`;
    case 'sshSignature':
      return 'sshSignature';
  }
}

/** The use that a text of `vaultUseText` stands for; undefined for any other text. */
export function parseVaultUse(text: string): VaultUse | undefined {
  const at = text.lastIndexOf('@');
  const found = /^(header|basic|query|env|fd|sshSignature)(?::([^]*))?$/.exec(text);
  const rest = found?.[2];
  if (found?.[1] === 'sshSignature') return rest === undefined ? { kind: 'sshSignature' } : undefined;
  if (rest === undefined || rest === '') return undefined;
  if (found?.[1] === 'env' || found?.[1] === 'fd') return { kind: found[1], name: rest };
  if (at < 0) return undefined;
  const hosts = text.slice(at + 1).split(',');
  const words = text.slice(0, at).slice(text.indexOf(':') + 1);
  if (found?.[1] === 'basic') return { kind: 'basic', hosts, user: words };
  if (found?.[1] === 'query') return { kind: 'query', hosts, name: words };
  const colon = words.indexOf(':');
  if (colon < 0) return undefined;
  return { kind: 'header', hosts, name: words.slice(0, colon), prefix: words.slice(colon + 1) };
}

/**
 * How a value is used, to go on after its name: 'in the header authorization of requests to api.example.org'. Uses that
 * differ have different words; what goes without saying is `Bearer ` in the header authorization, and nothing before the
 * value in any other.
 */
export function vaultUseWords(use: VaultUse): string {
  const to = 'hosts' in use ? `of requests to ${use.hosts.join(', ')}` : '';
  switch (use.kind) {
    case 'header':
      return `${vaultPlaceWords(use)} ${to}, put in outside the sandbox`;
    case 'basic':
      return `as the password ${to}${use.user === '' ? '' : `, user “${use.user}”`}, put in outside the sandbox`;
    case 'query':
      return `${vaultPlaceWords(use)} ${to}, put in outside the sandbox`;
    case 'env':
      return `in its environment, as ${use.name}: it can read the value`;
    case 'fd':
      return `from a file descriptor, named by ${use.name}: it can read the value`;
    case 'sshSignature':
      return 'to sign in over SSH';
  }
}

/** Where a value stands in a request, in few words: 'in the header authorization'. Its hosts are said elsewhere. */
export function vaultPlaceWords(use: Extract<VaultUse, { hosts: readonly string[] }>): string {
  switch (use.kind) {
    case 'header':
      return `in the header ${use.name}${prefixWords(use)}`;
    case 'basic':
      return `as the password${use.user === '' ? '' : `, user “${use.user}”`}`;
    case 'query':
      return `as ${use.name} in the address`;
  }
}

function prefixWords({ name, prefix }: Extract<VaultUse, { kind: 'header' }>): string {
  if (prefix === (name.toLowerCase() === 'authorization' ? 'Bearer ' : '')) return '';
  return prefix === '' ? ' with nothing before it' : ` after “${prefix}”`;
}

function hostsText(hosts: readonly string[]): string {
  return [...new Set(hosts.map((host) => host.toLowerCase()))].sort().join(',');
}

import { isIP, SocketAddress } from 'node:net';
import { UserError } from '../../protocol/src/errors.ts';
import { closedAddress } from './egressAddresses.ts';

/** Where a request wants to go, parsed strictly. */
export interface Target {
  /** A lower-case name without trailing dot, or an IP address in canonical form without brackets. */
  readonly host: string;
  readonly isAddress: boolean;
  readonly port: number;
}

/** One entry of a card's reviewed host list. */
export interface HostRule {
  /** As it was reviewed: `host`, `host:port`, `*.host`, an IP address, `[v6]`. */
  readonly text: string;
  readonly match: 'name' | 'suffix' | 'address';
  /** For `suffix` with its leading dot. */
  readonly host: string;
  /** Undefined stands for 443 and 80. */
  readonly port: number | undefined;
}

const label = /^[a-z0-9_][a-z0-9_-]{0,62}$/;
const authority = /^(\[[0-9a-f:.]{2,45}\]|[a-z0-9_.-]{1,254})(?::([1-9][0-9]{0,4}))?$/;
/** What older resolvers read as an IPv4 address in other words: a last part of digits, or of 0x and hex digits. */
const numberLike = /(^|\.)(0x[0-9a-f]*|[0-9]+)$/;
const defaultPorts = [443, 80];

/**
 * Parses `host`, `host:port`, `1.2.3.4:port` or `[v6]:port`. Nothing is repaired but case and one trailing dot: user
 * names, escapes, spaces, other scripts, zone ids, and numbers that are no dotted quad are not parsed. Undefined where
 * it is not exactly that, or where it has no port and there is no `defaultPort`.
 */
export function parseTarget(text: string, defaultPort?: number): Target | undefined {
  const match = authority.exec(text.toLowerCase());
  if (!match || text.length > 300) return undefined;
  const [, written = '', portText] = match;
  const port = portText === undefined ? defaultPort : Number(portText);
  if (port === undefined || port > 65_535) return undefined;
  if (written.startsWith('[')) {
    const address = written.slice(1, -1);
    return isIP(address) === 6 ? { host: canonicalV6(address), isAddress: true, port } : undefined;
  }
  const host = written.endsWith('.') ? written.slice(0, -1) : written;
  if (isIP(host) === 4) return { host, isAddress: true, port };
  if (numberLike.test(host) || !host.split('.').every((part) => label.test(part))) return undefined;
  return { host, isAddress: false, port };
}

/** Parses a reviewed host list. Throws `bad-message` where an entry is none: an unread rule must not be skipped. */
export function parseRules(hosts: readonly string[]): HostRule[] {
  return hosts.map((text) => {
    const isSuffix = text.startsWith('*.');
    const target = parseTarget(isSuffix ? text.slice(2) : text, 0);
    if (!target || (isSuffix && target.isAddress)) {
      throw new UserError('bad-message', `Not a host that a card may be given: ${text}`, { host: text });
    }
    return {
      text,
      match: target.isAddress ? 'address' : isSuffix ? 'suffix' : 'name',
      host: isSuffix ? `.${target.host}` : target.host,
      port: target.port === 0 ? undefined : target.port,
    };
  });
}

/** The first rule that lets `target` through, or undefined. Looks at the spelling alone; nothing is resolved. */
export function findRule(rules: readonly HostRule[], target: Target): HostRule | undefined {
  return rules.find(
    (rule) =>
      (rule.port === undefined ? defaultPorts.includes(target.port) : rule.port === target.port) &&
      (rule.match === 'suffix'
        ? !target.isAddress && target.host.length > rule.host.length && target.host.endsWith(rule.host)
        : rule.host === target.host && (rule.match === 'address') === target.isAddress),
  );
}

/**
 * Why none of `addresses` may be connected to, or undefined. All must pass, so that a name with one public and one
 * private address is closed. An address that was listed itself is open; `localhost` listed by that very name leads to
 * loopback and nowhere else; every other name leads to public addresses only.
 */
export function addressFault(rule: HostRule, addresses: readonly string[]): string | undefined {
  if (addresses.length === 0) return 'the name has no address';
  for (const address of addresses) {
    if (rule.match === 'address' && rule.host === address) continue;
    const closed = closedAddress(address);
    const open =
      rule.match === 'name' && rule.host === 'localhost' ? closed === 'loopback' : closed === undefined;
    if (!open)
      return `the name leads to an address that is ${closed ?? 'not loopback'}; list the address itself`;
  }
  return undefined;
}

function canonicalV6(address: string): string {
  return new SocketAddress({ address, family: 'ipv6' }).address;
}

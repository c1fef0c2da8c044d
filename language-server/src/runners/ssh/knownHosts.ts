import { createHmac, hash } from 'node:crypto';

/** One line of a known_hosts file (sshd(8), SSH_KNOWN_HOSTS FILE FORMAT) that could be read. */
export interface KnownHost {
  readonly marker: 'none' | 'revoked' | 'cert-authority';
  /** Patterns as written, or the salt and hash of one name. */
  readonly names:
    | { readonly kind: 'patterns'; readonly patterns: readonly string[] }
    | { readonly kind: 'hashed'; readonly salt: Buffer; readonly sum: Buffer };
  readonly keyType: string;
  /** The key as it is on the wire (RFC 4253, 6.6). */
  readonly key: Buffer;
  /** The file and line, for people. */
  readonly where: string;
}

/** A host as it is looked up. `alias` is HostKeyAlias, which stands in place of name and port. */
export interface LookedUp {
  readonly host: string;
  readonly port: number;
  readonly alias?: string | undefined;
}

export type HostKeyVerdict =
  | { readonly kind: 'trusted' }
  /** Nothing is known of the host. `hasAuthority`: only a certificate authority is, which is not supported. */
  | { readonly kind: 'unknown'; readonly hasAuthority: boolean }
  | { readonly kind: 'changed'; readonly known: readonly KnownHost[] }
  | { readonly kind: 'revoked'; readonly where: string };

/** Reads a file's text. Lines that can't be read stand for nothing, as in OpenSSH. `name` is for people. */
export function parseKnownHosts(text: string, name: string): KnownHost[] {
  return text.split('\n').flatMap((line, index) => parseLine(line, `${name}:${index + 1}`) ?? []);
}

/**
 * Judges the key that a host has shown. A revoked key is refused whatever else is known. A key that is not the known
 * one, of whatever type, is `changed`: those that are known were asked for first. A port that nothing is known of falls
 * back to the plain name, and only to trust it, as in OpenSSH; a name that is excluded under one form is under both.
 */
export function judgeHostKey(known: readonly KnownHost[], at: LookedUp, key: Buffer): HostKeyVerdict {
  const names = namesOf(at);
  const about = entriesAbout(known, at);
  const revoked = about.find((entry) => entry.marker === 'revoked' && entry.key.equals(key));
  if (revoked) return { kind: 'revoked', where: revoked.where };
  const plain = about.filter(({ marker }) => marker === 'none');
  if (plain.some((entry) => entry.key.equals(key))) return { kind: 'trusted' };
  const exact = plain.filter((entry) => matches(entry, names[0] ?? '', names));
  if (exact.length > 0) return { kind: 'changed', known: exact };
  return { kind: 'unknown', hasAuthority: about.some(({ marker }) => marker === 'cert-authority') };
}

/** The types of the keys that are known of a host, for asking for those first. */
export function knownKeyTypes(known: readonly KnownHost[], at: LookedUp): Set<string> {
  const plain = entriesAbout(known, at).filter(({ marker }) => marker === 'none');
  return new Set(plain.map(({ keyType }) => keyType));
}

/** The entries that name a host under any of its forms. */
export function entriesAbout(known: readonly KnownHost[], at: LookedUp): KnownHost[] {
  const names = namesOf(at);
  return known.filter((entry) => names.some((name) => matches(entry, name, names)));
}

/** The name that is written for a host: `host`, or `[host]:port` for another port than 22. */
export function knownHostsName({ host, port, alias }: LookedUp): string {
  if (alias !== undefined) return alias.toLowerCase();
  return port === 22 ? host.toLowerCase() : `[${host.toLowerCase()}]:${port}`;
}

/** As OpenSSH shows it. */
export function fingerprint(key: Buffer): string {
  return `SHA256:${hash('sha256', key, 'base64').replace(/=+$/, '')}`;
}

/** The type that a wire key names itself; empty where it has no form. */
export function wireKeyType(key: Buffer): string {
  if (key.length < 4) return '';
  const length = key.readUInt32BE();
  return length <= 64 && key.length >= 4 + length ? key.toString('latin1', 4, 4 + length) : '';
}

function namesOf(at: LookedUp): string[] {
  const first = knownHostsName(at);
  const plain = at.host.toLowerCase();
  return at.alias === undefined && first !== plain ? [first, plain] : [first];
}

function parseLine(line: string, where: string): KnownHost | undefined {
  const fields = line.trim().split(/[ \t]+/);
  const first = fields[0] ?? '';
  if (first === '' || first.startsWith('#')) return undefined;
  const markers: Readonly<Record<string, KnownHost['marker']>> = {
    '@revoked': 'revoked',
    '@cert-authority': 'cert-authority',
  };
  const isMarked = first.startsWith('@');
  const marker = isMarked ? markers[first] : 'none';
  const [names, keyType, base64] = isMarked ? fields.slice(1) : fields;
  if (!marker || names === undefined || keyType === undefined || base64 === undefined) return undefined;
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(base64)) return undefined;
  const key = Buffer.from(base64, 'base64');
  if (wireKeyType(key) !== keyType) return undefined;
  const parsed = parseNames(names);
  return parsed && { marker, names: parsed, keyType, key, where };
}

function parseNames(names: string): KnownHost['names'] | undefined {
  if (!names.startsWith('|')) return { kind: 'patterns', patterns: names.split(',') };
  const [, version, salt, sum, ...more] = names.split('|');
  if (version !== '1' || salt === undefined || sum === undefined || more.length > 0) return undefined;
  const parts = { salt: Buffer.from(salt, 'base64'), sum: Buffer.from(sum, 'base64') };
  return parts.sum.length === 20 ? { kind: 'hashed', ...parts } : undefined;
}

/** `all` are the forms of the host that is looked up: an exclusion of one holds for each. */
function matches({ names }: KnownHost, name: string, all: readonly string[]): boolean {
  if (names.kind === 'hashed') return createHmac('sha1', names.salt).update(name).digest().equals(names.sum);
  const excluded = names.patterns
    .filter((pattern) => pattern.startsWith('!'))
    .some((pattern) => all.some((each) => matchesPattern(pattern.slice(1), each)));
  if (excluded) return false;
  return names.patterns.some((pattern) => !pattern.startsWith('!') && matchesPattern(pattern, name));
}

/** `*` and `?` as in ssh_config(5), in time that grows with the product of the lengths. */
function matchesPattern(written: string, name: string): boolean {
  const pattern = written.toLowerCase();
  let at = 0;
  let star = -1;
  let resumeAt = 0;
  for (let index = 0; index < name.length;) {
    const wanted = pattern[at];
    if (wanted === '*') {
      star = at++;
      resumeAt = index;
    } else if (wanted === '?' || wanted === name[index]) {
      at++;
      index++;
    } else if (star >= 0) {
      at = star + 1;
      index = ++resumeAt;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}

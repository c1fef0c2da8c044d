/** Why a text is no address of a git repository. */
export type AddressProblem = 'not-an-address' | 'scheme' | 'credentials' | 'query' | 'ref';

export interface GitAddress {
  readonly url: string;
  /** A branch, a tag or a commit: what follows `#`. */
  readonly ref?: string;
}

/**
 * Reads what a person types: `https://host/path`, `ssh://user@host/path` or git's short `user@host:path`, each with `#ref`
 * where a certain branch, tag or commit is meant. Answers with what is wrong where it is none. The engine judges again.
 */
export function parseGitAddress(text: string): GitAddress | AddressProblem {
  const [address = '', ref, ...rest] = text.trim().split('#');
  if (rest.length > 0 || (ref !== undefined && !isRef(ref))) return 'ref';
  const short = /^([A-Za-z0-9._-]+)@([A-Za-z0-9.-]+):(?!\/\/)([^\s]+)$/.exec(address);
  const long = short ? `ssh://${short[1]}@${short[2]}/${short[3]?.replace(/^\//, '')}` : address;
  if (/\s/.test(long)) return 'not-an-address';
  const url = URL.parse(long);
  if (!url) return 'not-an-address';
  if (url.protocol !== 'https:' && url.protocol !== 'ssh:') return 'scheme';
  if (url.host === '' || url.pathname.length < 2) return 'not-an-address';
  if (url.password !== '' || (url.protocol === 'https:' && url.username !== '')) return 'credentials';
  if (url.search !== '') return 'query';
  return ref === undefined ? { url: url.href } : { url: url.href, ref };
}

/** Git's own rules are wider (git-check-ref-format); these names are no option, no range and no path upwards. */
function isRef(text: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$/.test(text) && !text.includes('..') && !text.includes('//');
}

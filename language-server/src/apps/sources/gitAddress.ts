/**
 * Why a repository is not taken from here, or nothing. Only `https:` and `ssh:`, without a password, a query or a
 * fragment, and with a reference that is no option, no range and no expression (git-check-ref-format(1)).
 */
export function gitAddressFault(address: string, ref?: string): string | undefined {
  if (/[\s\p{C}]/u.test(address) || !URL.canParse(address))
    return 'is no address: it looks like https://host/path';
  const url = new URL(address);
  if (url.protocol === 'file:') return 'is a folder of this machine; install it as a folder instead';
  if (url.protocol !== 'https:' && url.protocol !== 'ssh:')
    return `is neither https: nor ssh: (${url.protocol})`;
  if (url.password !== '' || (url.protocol === 'https:' && url.username !== ''))
    return 'holds a user name or a password';
  if (url.protocol === 'ssh:' && !/^([A-Za-z0-9_][A-Za-z0-9._-]*)?$/.test(url.username))
    return 'has a user name that ssh does not take';
  if (!/^(\[[0-9a-f:.]+\]|[A-Za-z0-9._-]+)$/.test(url.hostname) || url.hostname.startsWith('-'))
    return 'has no sound host name';
  if (url.search !== '' || url.hash !== '') return 'has a query or a fragment';
  if (url.pathname.length < 2 || /^\/+-/.test(decodeURIComponentOr(url.pathname)))
    return 'has no path of a repository';
  if (ref !== undefined && !isRef(ref)) return `has a reference that is no branch, tag or commit (${ref})`;
  return undefined;
}

function isRef(ref: string): boolean {
  return /^[A-Za-z0-9_][A-Za-z0-9._/+-]{0,199}$/.test(ref) && !/\.\.|\/\/|\.lock$|[./]$/.test(ref);
}

function decodeURIComponentOr(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return '/-';
  }
}

/** Why a text is no address of a model's API. The words are `messages.ts`'s. */
export type AddressProblem = 'not-a-url' | 'scheme' | 'plain-http' | 'credentials' | 'query';

/** Where requests of a connection go. `base` has no slash at its end; `origin` is what a key is bound to. */
export interface Address {
  readonly base: string;
  readonly origin: string;
}

/** Reads a base address. Plain HTTP is for this machine alone; nothing but scheme, host, port and path is kept. */
export function parseAddress(text: string): Address | { readonly problem: AddressProblem } {
  let url: URL;
  try {
    url = new URL(text.trim());
  } catch {
    return { problem: 'not-a-url' };
  }
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return { problem: 'scheme' };
  if (url.username !== '' || url.password !== '') return { problem: 'credentials' };
  if (url.search !== '' || url.hash !== '') return { problem: 'query' };
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) return { problem: 'plain-http' };
  return { base: url.origin + url.pathname.replace(/\/+$/, ''), origin: url.origin };
}

/**
 * True for `localhost`, 127.0.0.0/8 and [::1] as the URL standard spells them. A name in front of `localhost` is none:
 * a name server may answer anything for it.
 */
export function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d{1,3}){3}$/.test(hostname);
}

const pathSegment = /^[A-Za-z0-9][A-Za-z0-9._~:-]*$/;

/**
 * The address of a path strictly below the base; undefined where it would be anything else. Percent signs, back slashes,
 * queries, dot segments and empty segments are refused, not interpreted.
 */
export function joinBelow(base: string, path: string): string | undefined {
  if (path.length === 0 || path.length > 256) return undefined;
  if (!path.split('/').every((segment) => pathSegment.test(segment))) return undefined;
  const joined = `${base}/${path}`;
  const url = new URL(joined);
  return url.href === joined && url.origin === new URL(base).origin ? joined : undefined;
}

import { parseTarget, type Target } from './egressRules.ts';

/** Name and value pairs in the order they came, as `IncomingMessage.rawHeaders` has them. */
export type RawHeaders = readonly string[];

/** Headers of one connection, which a proxy never passes on (RFC 9110 §7.6.1, and what proxies are sent besides). */
const hopByHop: ReadonlySet<string> = new Set([
  'connection',
  'proxy-connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'expect',
]);

/** What a plain request asks for: of whom, and the path with its query. */
export interface AbsoluteForm {
  readonly target: Target;
  readonly path: string;
}

/** Reads the request line of a plain request, which must be in absolute form (RFC 9112 §3.2.2). */
export function parseAbsoluteForm(url: string): AbsoluteForm | undefined {
  const match = /^http:\/\/([^/?#]*)([/?][\x21\x22\x24-\x7e]*)?$/i.exec(url);
  const target = parseTarget(match?.[1] ?? '', 80);
  if (!match || !target) return undefined;
  const rest = match[2] ?? '/';
  return { target, path: rest.startsWith('?') ? `/${rest}` : rest };
}

/** The path and query of a request inside a tunnel (RFC 9112 §3.2.1); undefined for every other form. */
export function parseOriginForm(url: string): string | undefined {
  return /^\/[\x21\x22\x24-\x7e]*$/.test(url) ? url : undefined;
}

/**
 * What makes a request unsafe to pass on, in words, or undefined: a `Host` that is not the target, two lengths, a
 * length beside chunks, another transfer encoding, or a wish for another protocol. `Host` may be missing where the
 * request line names the target, as HTTP/1.0 and older CONNECT clients do.
 */
export function headerFault(raw: RawHeaders, target: Target): string | undefined {
  const hosts = valuesOf(raw, 'host');
  const lengths = valuesOf(raw, 'content-length');
  const encodings = valuesOf(raw, 'transfer-encoding');
  if (hosts.length > 1) return 'more than one Host header';
  const host = hosts[0];
  if (host !== undefined) {
    const named = parseTarget(host, target.port);
    if (named?.host !== target.host || named.port !== target.port)
      return 'the Host header names another host';
  }
  if (lengths.length > 1 || (lengths[0] !== undefined && !/^[0-9]{1,15}$/.test(lengths[0]))) {
    return 'the Content-Length is not one number';
  }
  if (encodings.length > 1 || (encodings[0] !== undefined && encodings[0].toLowerCase() !== 'chunked')) {
    return 'a Transfer-Encoding other than chunked';
  }
  if (encodings.length > 0 && lengths.length > 0) return 'both a Content-Length and a Transfer-Encoding';
  if (valuesOf(raw, 'upgrade').length > 0) return 'Upgrade is not passed on';
  return undefined;
}

/** The headers that belong to the message itself: without hop-by-hop ones and those that `Connection` names. */
export function endToEndHeaders(raw: RawHeaders): [name: string, value: string][] {
  const named = valuesOf(raw, 'connection').flatMap((value) => value.toLowerCase().split(/[ \t]*,[ \t]*/));
  const dropped = new Set([...hopByHop, ...named]);
  // A length is what frames the body: no `Connection` header takes it away.
  dropped.delete('content-length');
  return pairs(raw).filter(([name]) => !dropped.has(name.toLowerCase()));
}

function valuesOf(raw: RawHeaders, wanted: string): string[] {
  return pairs(raw)
    .filter(([name]) => name.toLowerCase() === wanted)
    .map(([, value]) => value.trim());
}

function pairs(raw: RawHeaders): [string, string][] {
  const list: [string, string][] = [];
  for (let index = 0; index + 1 < raw.length; index += 2) list.push([raw[index] ?? '', raw[index + 1] ?? '']);
  return list;
}

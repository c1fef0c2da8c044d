import type { Target } from '../egressRules.ts';
import { isAmong, type Injection } from './injection.ts';

/** A request as a card or a plugin wrote it: its end-to-end headers and the path with the query. */
export interface WrittenRequest {
  readonly path: string;
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** The values that go into requests to this host and port; empty for every other. */
export function injectionsFor(injections: readonly Injection[], target: Target): Injection[] {
  return injections.filter(({ targets }) => isAmong(targets, target));
}

/**
 * The request with the values put in. What the one who asks wrote into the same header, or under the same name of the
 * query, is taken out first. A range is not passed on, and no encoding but identity: the answer is looked through, and a
 * part or a packed form of an echo would not be recognised. Of two values for one header the last one counts.
 */
export function inject(request: WrittenRequest, injections: readonly Injection[]): WrittenRequest {
  let { path } = request;
  const taken = new Set(['accept-encoding', 'range', 'if-range']);
  const added = new Map([['accept-encoding', ['accept-encoding', 'identity']]] as [
    string,
    [string, string],
  ][]);
  const put = (name: string, value: string): void => {
    taken.add(comparable(name));
    added.set(comparable(name), [name, value]);
  };
  for (const { use, value } of injections) {
    switch (use.kind) {
      case 'header':
        put(use.name, use.prefix + value);
        break;
      case 'basic':
        put('authorization', `Basic ${Buffer.from(`${use.user}:${value}`).toString('base64')}`);
        break;
      case 'query':
        path = withQuery(path, use.name, value);
    }
  }
  const kept = request.headers.filter(([name]) => !taken.has(comparable(name)));
  return { path, headers: [...kept, ...added.values()] };
}

/** Some servers read `x_key` as `x-key`. */
function comparable(name: string): string {
  return name.toLowerCase().replaceAll('_', '-');
}

function withQuery(path: string, name: string, value: string): string {
  const at = path.indexOf('?');
  const base = at < 0 ? path : path.slice(0, at);
  const kept =
    at < 0
      ? []
      : path
          .slice(at + 1)
          .split(/[&;]/)
          .filter((pair) => pair !== '' && nameOf(pair) !== name);
  return `${base}?${[...kept, `${name}=${encodeURIComponent(value)}`].join('&')}`;
}

function nameOf(pair: string): string {
  const written = pair.split('=', 1)[0] ?? '';
  try {
    return decodeURIComponent(written.replaceAll('+', ' '));
  } catch {
    return written;
  }
}

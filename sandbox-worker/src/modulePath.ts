/** What guest.js is called in stack traces. Its own imports are not relative: it names the entry. */
export const guestName = 'sallyport';

const longestShown = 200;

/**
 * Where an import of a card or a plugin leads: the key of `modules` that `request`, written in `base`, names. For anything that is
 * not a relative path, leaves the folder or is not there, a name that no module can have, which the loader then
 * refuses: an error thrown in here would reach QuickJS as an empty name.
 */
export function resolveModule(modules: ReadonlyMap<string, string>, base: string, request: string): string {
  const path = base === guestName ? request : joinPath(base, request);
  if (path !== undefined && modules.has(path)) return path;
  return `"${request.slice(0, longestShown).replaceAll('\0', '')}" from ${base.slice(0, longestShown)} (refused)`;
}

/** A card or a plugin imports its own files, by relative path, and nothing else. */
export class ImportRefused extends Error {
  override readonly name = 'Error';

  /** `name` as `resolveModule` made it. */
  constructor(name: string, importer: 'a js card' | 'a plugin' = 'a js card') {
    super(
      `Cannot import ${name.replace(/ \(refused\)$/, '')}: ${importer} imports .js and .mjs files of its own folder by relative path`,
    );
  }
}

function joinPath(base: string, request: string): string | undefined {
  if (!request.startsWith('./') && !request.startsWith('../')) return undefined;
  const parts = base.split('/').slice(0, -1);
  for (const part of request.split('/')) {
    if (part === '..') {
      if (parts.pop() === undefined) return undefined;
    } else if (part !== '.') parts.push(part);
  }
  return parts.join('/');
}

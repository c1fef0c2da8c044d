import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import type { AppSource } from '../../../../protocol/src/apps.ts';

/**
 * What tells one source from another: two sources with the same key are the same author's place. A branch is part of
 * it; a spelling of the address that leads to the same place is not.
 */
export function sourceKey(source: AppSource): string {
  if (source.kind !== 'git') return canonicalJson({ kind: source.kind, path: source.path });
  return canonicalJson({ kind: 'git', url: canonicalUrl(source.url), ref: source.ref ?? null });
}

/** True where this is a source of the maintainers, by their own record. Only a repository can be one. */
export function isOfficialSource(source: AppSource, official: readonly string[]): boolean {
  return source.kind === 'git' && official.some((url) => canonicalUrl(url) === canonicalUrl(source.url));
}

function canonicalUrl(text: string): string {
  if (!URL.canParse(text)) return text;
  const url = new URL(text);
  return `${url.protocol}//${url.username === '' ? '' : `${url.username}@`}${url.host}${url.pathname.replace(/(\.git)?\/*$/, '')}`;
}

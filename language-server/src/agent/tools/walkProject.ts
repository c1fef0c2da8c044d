import { closeSync, fstatSync, readSync } from 'node:fs';
import {
  asFolder,
  openEntry,
  readNames,
  type EntryKind,
  type OpenedFolder,
} from '../../../../remote-agent/src/files/noFollow.ts';
import { openBelow, openRealFolder } from '../../../../remote-agent/src/files/openBelow.ts';
import { createPace } from '../../../../remote-agent/src/files/pace.ts';
import { decodeName } from '../../../../remote-agent/src/files/treePath.ts';
import { judge, parseIgnore, type IgnoreRules } from './ignoreRules.ts';

/** Something met on a walk. `path` is relative to where the walk's base is, with `/`. */
export interface Met {
  readonly path: string;
  readonly kind: Exclude<EntryKind, 'missing'> | 'unreadable';
  readonly sizeBytes: number;
  /** Of a regular file, good until the next one is met. */
  readonly descriptor: number | null;
}

export interface WalkOptions {
  /** Absolute real path. */
  readonly base: string;
  /** Where to start, relative to it; empty for all. */
  readonly start: string;
  /** False: what `.gitignore` files name, and `.git`, is passed over. */
  readonly ignored: boolean;
  /** Folders within folders below the start. */
  readonly depth: number;
  readonly signal?: AbortSignal | undefined;
}

const mostIgnoreBytes = 256 * 1024;

/**
 * Walks a folder in the order of names, following nothing. Folders come before what is in them. What can't be read is
 * met as `unreadable`. Throws `unsafe-path` where the start is no folder.
 */
export async function* walkProject(options: WalkOptions): AsyncGenerator<Met, void, undefined> {
  const pace = createPace(options.signal);
  const base = openRealFolder(options.base);
  try {
    const parts = options.start === '' ? [] : options.start.split('/');
    const folder = openBelow(base, parts);
    if (!folder) return;
    try {
      const scopes = options.ignored ? [] : rulesOnTheWay(base, parts);
      yield* walk(folder, options.start, scopes, options.depth);
    } finally {
      if (folder !== base) closeSync(folder.descriptor);
    }
  } finally {
    closeSync(base.descriptor);
  }

  async function* walk(
    folder: OpenedFolder,
    prefix: string,
    outer: readonly Scope[],
    depth: number,
  ): AsyncGenerator<Met, void, undefined> {
    const scopes = options.ignored ? outer : [...outer, scopeOf(folder, prefix)];
    for (const name of [...readNames(folder)].flatMap((raw) => decodeName(raw) ?? []).sort()) {
      if (pace.isDue()) await pace.rest();
      const path = prefix === '' ? name : `${prefix}/${name}`;
      if (!options.ignored && name === '.git') continue;
      let entry;
      try {
        entry = openEntry(folder, name);
      } catch {
        yield { path, kind: 'unreadable', sizeBytes: 0, descriptor: null };
        continue;
      }
      if (entry.kind === 'missing') continue;
      if (entry.kind !== 'file' && entry.kind !== 'directory') {
        if (!isIgnored(scopes, path, false)) yield { path, kind: entry.kind, sizeBytes: 0, descriptor: null };
        continue;
      }
      try {
        if (isIgnored(scopes, path, entry.kind === 'directory')) continue;
        const sizeBytes = Number(entry.stat.size);
        const isFile = entry.kind === 'file';
        yield { path, kind: entry.kind, sizeBytes, descriptor: isFile ? entry.descriptor : null };
        if (!isFile && depth > 1) yield* walk(asFolder(folder, name, entry), path, scopes, depth - 1);
      } finally {
        closeSync(entry.descriptor);
      }
    }
  }
}

interface Scope {
  readonly prefix: string;
  readonly rules: IgnoreRules;
}

function isIgnored(scopes: readonly Scope[], path: string, isFolder: boolean): boolean {
  for (const { prefix, rules } of scopes.toReversed()) {
    const verdict = judge(rules, prefix === '' ? path : path.slice(prefix.length + 1), isFolder);
    if (verdict !== null) return verdict === 'ignored';
  }
  return false;
}

function rulesOnTheWay(base: OpenedFolder, parts: readonly string[]): Scope[] {
  return parts.flatMap((_, count) => {
    const folder = openBelow(base, parts.slice(0, count));
    if (!folder) return [];
    try {
      return [scopeOf(folder, parts.slice(0, count).join('/'))];
    } finally {
      if (folder !== base) closeSync(folder.descriptor);
    }
  });
}

function scopeOf(folder: OpenedFolder, prefix: string): Scope {
  try {
    const entry = openEntry(folder, '.gitignore');
    if (entry.kind !== 'file') {
      if (entry.kind === 'directory') closeSync(entry.descriptor);
      return { prefix, rules: [] };
    }
    try {
      const bytes = Buffer.alloc(Math.min(mostIgnoreBytes, fstatSync(entry.descriptor).size));
      const count = readSync(entry.descriptor, bytes);
      return { prefix, rules: parseIgnore(bytes.toString('utf8', 0, count)) };
    } finally {
      closeSync(entry.descriptor);
    }
  } catch {
    return { prefix, rules: [] };
  }
}

import { createHash } from 'node:crypto';
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import type { Case } from './case.ts';

type Files = NonNullable<Case['files']>;

/** Lays out files below a folder; what is there is replaced. */
export function plant(folder: string, files: Files): void {
  for (const [name, content] of Object.entries(files)) {
    const path = join(folder, name);
    mkdirSync(dirname(path), { recursive: true });
    rmSync(path, { recursive: true, force: true });
    if (content === null) continue;
    if (typeof content === 'string') writeFileSync(path, content);
    else if ('link' in content) symlinkSync(content.link, path);
    else writeFileSync(path, content.repeat.repeat(content.times));
  }
}

/** Copies the files that a case brings in a folder of its own. */
export function plantFolder(from: string, to: string): void {
  cpSync(from, to, { recursive: true, verbatimSymlinks: true });
}

/** What each path below a folder is: kind, mode, and the digest of its content. Links are not followed. */
export function snapshot(folder: string): Map<string, string> {
  const seen = new Map<string, string>();
  const walk = (below: string) => {
    for (const name of readdirSync(join(folder, below))) {
      const path = below === '' ? name : `${below}/${name}`;
      const full = join(folder, path);
      const stat = lstatSync(full);
      if (stat.isDirectory()) {
        seen.set(path, 'folder');
        walk(path);
      } else if (stat.isSymbolicLink()) seen.set(path, `link ${readlinkSync(full)}`);
      else seen.set(path, `${stat.mode} ${createHash('sha256').update(readFileSync(full)).digest('hex')}`);
    }
  };
  walk('');
  return seen;
}

/** Paths that are new, gone or another thing, in order; a new folder stands only for itself where it is empty. */
export function changesBetween(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const paths = new Set([...before.keys(), ...after.keys()]);
  const changed = [...paths].filter((path) => before.get(path) !== after.get(path)).sort();
  return changed.filter((path) => !changed.some((other) => other.startsWith(`${path}/`)));
}

import { hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import { resolvePath } from '../../gate/paths.ts';

const maximumWords = 2_000;
const maximumFiles = 200;
/** A script is shorter; what is longer is measured by its size and time of change as well. */
const measuredBytes = 1024 * 1024;

/**
 * The files of the project that a command names, as targets measured by content. Every piece of the text between blanks,
 * quotes and signs of the shell is tried as a path, so more may be found than the command uses; a name that is put
 * together while it runs is not found. Nothing is allowed by this: it only makes an answered question void when a
 * script is exchanged before it runs.
 */
export function namedFiles(root: string, command: string, mount: string): Target[] {
  const words = new Set(command.slice(0, 256 * 1024).split(/[\s;|&<>()$`"'={},:\\*?[\]!#]+/));
  const targets = new Map<string, Target>();
  let tried = 0;
  for (const word of words) {
    if (word === '' || word === '.' || word === '..' || word === '/') continue;
    if (++tried > maximumWords) break;
    const path = word.startsWith(`${mount}/`) ? word.slice(mount.length + 1) : word;
    if (path.startsWith('/')) continue;
    const found = measureFile(root, path);
    if (found) targets.set(found.name, found);
    if (targets.size > maximumFiles) {
      throw new UserError(
        'too-large',
        `The command names more than ${maximumFiles} files of the project`,
        {},
      );
    }
  }
  return [...targets.values()].sort((a, b) => (a.name < b.name ? -1 : 1));
}

function measureFile(root: string, path: string): Target | undefined {
  let resolved: ReturnType<typeof resolvePath>;
  try {
    resolved = resolvePath(root, path);
  } catch {
    return undefined;
  }
  if (!resolved.exists || resolved.isOutside) return undefined;
  const stat = statSync(resolved.real, { throwIfNoEntry: false });
  if (!stat?.isFile()) return undefined;
  return {
    kind: 'script',
    name: resolved.relative,
    measure: digestOf(resolved.real),
    isProtected: resolved.isProtected,
    isOutside: false,
  };
}

/** Throws where it can't be read, which means no. */
function digestOf(path: string): string {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    const { size, mtimeNs } = fstatSync(descriptor, { bigint: true });
    const buffer = Buffer.alloc(measuredBytes + 1);
    const count = readSync(descriptor, buffer, 0, buffer.length, 0);
    const content = hash('sha256', buffer.subarray(0, count));
    return count <= measuredBytes ? content : `${content} ${size} ${mtimeNs}`;
  } finally {
    closeSync(descriptor);
  }
}

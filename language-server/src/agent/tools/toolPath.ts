import { closeSync, fstatSync, readSync, realpathSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import { openEntry } from '../../../../remote-agent/src/files/noFollow.ts';
import { resolveEntry, resolvePath, type ResolvedPath } from '../../gate/paths.ts';
import { lookAt, type FileState } from '../../history/fileState.ts';
import { hashOnly } from '../../history/hashOnly.ts';
import { withParent, type Place } from '../../history/place.ts';
import { measureOf } from '../../history/undo.ts';

/** A path that a tool was asked for, resolved. */
export interface ToolPath extends ResolvedPath {
  /** As it was asked, for resolving it again. */
  readonly asked: string;
  readonly place: Place;
  /** True where the path is taken by its name: a link at its end is what is meant. */
  readonly byName: boolean;
}

/** Where a path really leads: for reading and editing. Throws `unsafe-path`. */
export function toolPath(root: string, asked: string): ToolPath {
  return placed(root, asked, resolvePath(root, asked), false);
}

/** The thing of that name: for deleting and renaming. Throws `unsafe-path`. */
export function toolEntry(root: string, asked: string): ToolPath & { readonly isLink: boolean } {
  const entry = resolveEntry(root, asked);
  return { ...placed(root, asked, entry, true), isLink: entry.isLink };
}

/** Throws `conflict` where the path does not lead where it led. */
export function assertStillThere(root: string, path: ToolPath): void {
  const again = path.byName ? toolEntry(root, path.asked) : toolPath(root, path.asked);
  if (again.real !== path.real)
    throw new UserError('conflict', `${path.asked} does not lead where it led: it changed meanwhile`);
}

/** Throws `unsafe-path` for what an agent may not change at all; the gate refuses it as well. */
export function assertInside(path: ToolPath): void {
  if (path.isOutside) {
    throw new UserError(
      'unsafe-path',
      `${path.asked} leads out of the project, to ${path.real}. An agent changes nothing there.`,
      { path: path.real },
    );
  }
}

/** What is there, without keeping it. Throws as `lookAt` does. */
export async function stateAt(place: Place, limitBytes?: number): Promise<FileState> {
  return (await lookAt(place, hashOnly, limitBytes)).state;
}

/** As an approval is bound to it. The path is resolved anew, so that a link that came meanwhile is a difference. */
export async function targetOf(root: string, path: ToolPath): Promise<Target> {
  const now = path.byName ? toolEntry(root, path.asked) : toolPath(root, path.asked);
  return {
    kind: 'path',
    name: now.relative === '' ? '.' : now.relative,
    measure: now.relative === '' ? 'folder' : measureOf(await stateAt(now.place)),
    isProtected: now.isProtected,
    isOutside: now.isOutside,
  };
}

/** The bytes of a regular file, following nothing. Throws `not-found`, `unsafe-path`, `too-large`. */
export function readPlace(path: ToolPath, limitBytes: number): Buffer {
  const { place } = path;
  const bytes = withParent(place, (folder, name) => {
    const entry = openEntry(folder, name);
    if (entry.kind === 'missing') throw missing(path);
    if (entry.kind !== 'file') {
      if (entry.kind === 'directory') closeSync(entry.descriptor);
      const what = entry.kind === 'directory' ? 'a folder' : `no regular file (${entry.kind})`;
      throw new UserError('unsafe-path', `${path.asked} is ${what}`, { path: path.asked });
    }
    try {
      const { size } = fstatSync(entry.descriptor);
      if (size > limitBytes) {
        throw new UserError(
          'too-large',
          `${path.asked} has ${size} bytes; at most ${limitBytes} can be handled as text`,
          { path: path.asked },
        );
      }
      return readUpTo(entry.descriptor, limitBytes);
    } finally {
      closeSync(entry.descriptor);
    }
  });
  if (!bytes) throw missing(path);
  return bytes;
}

/** `not-found`, in the words of the one who asked. */
export function missing({ asked }: ToolPath): UserError {
  return new UserError('not-found', `${asked} is not there`, { path: asked });
}

function placed(root: string, asked: string, resolved: ResolvedPath, byName: boolean): ToolPath {
  const { real, relative, exists, isOutside, isProtected } = resolved;
  const place = isOutside
    ? { base: dirname(real), path: basename(real) }
    : { base: realpathSync.native(root), path: relative };
  return { real, relative, exists, isOutside, isProtected, asked, place, byName };
}

function readUpTo(descriptor: number, limitBytes: number): Buffer {
  const parts: Buffer[] = [];
  let size = 0;
  for (;;) {
    const chunk = Buffer.allocUnsafe(256 * 1024);
    const count = readSync(descriptor, chunk);
    if (count === 0) return Buffer.concat(parts);
    size += count;
    if (size > limitBytes) throw new UserError('too-large', 'The file grew while it was read');
    parts.push(chunk.subarray(0, count));
  }
}

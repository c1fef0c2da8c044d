import { closeSync, fstatSync, lstatSync, readlinkSync, type BigIntStats } from 'node:fs';
import * as z from 'zod/mini';
import { digest } from '../../../protocol/src/artifacts.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { toFileError } from '../../../remote-agent/src/files/fileError.ts';
import {
  childPath,
  isUnchanged,
  kindOf,
  openEntry,
  type OpenedFolder,
} from '../../../remote-agent/src/files/noFollow.ts';
import { decodeName } from '../../../remote-agent/src/files/treePath.ts';
import { absolutePath, withParent, type Place } from './place.ts';

/** What is at a path, as far as it can be put back: content, permission bits, a link as a link. */
export const fileState = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('absent') }),
  z.strictObject({ kind: z.literal('file'), digest, sizeBytes: z.int(), mode: z.int() }),
  /** `target` as it stands in the link. */
  z.strictObject({ kind: z.literal('link'), target: z.string() }),
  z.strictObject({ kind: z.literal('folder'), mode: z.int() }),
]);
export type FileState = z.infer<typeof fileState>;

/** Where looked-at content goes: into a store, or nowhere (`hashOnly`). */
export type ContentSink = Pick<BlobStore, 'putFile'>;

/** Nothing is there. */
export const absent: FileState = { kind: 'absent' };

/** A state as it was found, with what tells whether the path was touched since. */
export interface Look {
  readonly state: FileState;
  /** Equal texts: the same inode, unchanged. For comparing only. */
  readonly signature: string;
}

const absentLook: Look = { state: absent, signature: 'absent' };

/**
 * Looks at a place, following nothing, and keeps its content in `blobs`. Throws `unsafe-path` for what can't be put
 * back (pipes, sockets, devices, links whose target is not UTF-8) and for a way through links, `conflict` where it
 * changes while it is read, `too-large` over `limitBytes`, `unreadable` where it can't be looked at.
 */
export async function lookAt(place: Place, blobs: ContentSink, limitBytes = Infinity): Promise<Look> {
  try {
    const look = withParent(place, (folder, name) => lookIn(folder, name, place, blobs, limitBytes));
    return (await look) ?? absentLook;
  } catch (error) {
    throw toFileError(error, 'look at', absolutePath(place));
  }
}

/** `lookAt` for a name in a folder that is open. `place` is for messages. */
export async function lookIn(
  folder: OpenedFolder,
  name: string,
  place: Place,
  blobs: ContentSink,
  limitBytes = Infinity,
): Promise<Look> {
  const entry = openEntry(folder, name);
  if (entry.kind === 'missing') return absentLook;
  if (entry.kind === 'symlink') return lookAtLink(childPath(folder, name), place);
  if (entry.kind !== 'file' && entry.kind !== 'directory') {
    throw new UserError('unsafe-path', `${absolutePath(place)} is neither file, folder nor link`, {
      path: absolutePath(place),
    });
  }
  try {
    const signature = signatureOf(entry.stat);
    const mode = modeOf(entry.stat);
    if (entry.kind === 'directory') return { state: { kind: 'folder', mode }, signature };
    const blob = await blobs.putFile(entry.descriptor, { limitBytes });
    if (!isUnchanged(entry.stat, fstatSync(entry.descriptor, { bigint: true }))) throw moved(place);
    return { state: { kind: 'file', ...blob, mode }, signature };
  } finally {
    closeSync(entry.descriptor);
  }
}

/** The signature of what is there now, by metadata alone. */
export function signatureAt(folder: OpenedFolder, name: string): string {
  const stat = lstatSync(childPath(folder, name), { bigint: true, throwIfNoEntry: false });
  return stat ? signatureOf(stat) : absentLook.signature;
}

/** True where putting one in the place of the other would change nothing. */
export function isSameState(a: FileState, b: FileState): boolean {
  switch (a.kind) {
    case 'absent':
      return b.kind === 'absent';
    case 'file':
      return b.kind === 'file' && a.digest === b.digest && a.mode === b.mode;
    case 'link':
      return b.kind === 'link' && a.target === b.target;
    case 'folder':
      return b.kind === 'folder' && a.mode === b.mode;
  }
}

/** The digest of a state's bytes; null where it has none. */
export function digestOf(state: FileState): string | null {
  return state.kind === 'file' ? state.digest : null;
}

function lookAtLink(path: string, place: Place): Look {
  try {
    const before = lstatSync(path, { bigint: true });
    const target = decodeName(readlinkSync(path, 'buffer'));
    const after = lstatSync(path, { bigint: true });
    if (!isUnchanged(before, after)) throw moved(place);
    if (target === undefined) {
      const shown = absolutePath(place);
      throw new UserError('unsafe-path', `${shown} is a link to a name that is not UTF-8`, { path: shown });
    }
    return { state: { kind: 'link', target }, signature: signatureOf(after) };
  } catch (cause) {
    if (cause instanceof UserError) throw cause;
    throw moved(place, cause);
  }
}

/** A folder's times change with every name in it, so only what it is itself counts. */
function signatureOf(stat: BigIntStats): string {
  const self = `${kindOf(stat)} ${stat.dev} ${stat.ino} ${stat.mode}`;
  return stat.isDirectory() ? self : `${self} ${stat.size} ${stat.mtimeNs} ${stat.ctimeNs}`;
}

function modeOf(stat: BigIntStats): number {
  return Number(stat.mode & 0o7777n);
}

function moved(place: Place, cause?: unknown): UserError {
  const path = absolutePath(place);
  return new UserError('conflict', `${path} changed while it was read`, { path }, { cause });
}

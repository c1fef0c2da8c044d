import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { badEntry, tooLarge } from '../tree/frozenTree.ts';
import { EntryPaths } from '../tree/entryPaths.ts';

/** What the central directory says of one entry (APPNOTE.TXT §4.3.12). */
export interface ZipEntry {
  readonly fileName: string;
  readonly compressedSize: number;
  readonly uncompressedSize: number;
  readonly compressionMethod: number;
  readonly generalPurposeBitFlag: number;
  readonly versionMadeBy: number;
  readonly externalFileAttributes: number;
  readonly relativeOffsetOfLocalHeader: number;
}

export interface ZipRules {
  readonly files: number;
  readonly fileBytes: number;
  readonly totalBytes: number;
}

const appRules: ZipRules = appLimits;

/**
 * Judges a whole archive by its directory, before anything of it is unpacked: every name, what each entry is, and how
 * much it comes to. Entries must not overlap in the file, so that a byte is unpacked once. Throws `unsafe-path` or
 * `too-large`; returns the files, in the order of the directory.
 */
export function judgeZip<E extends ZipEntry>(
  entries: readonly E[],
  archiveBytes: number,
  rules: ZipRules = appRules,
): E[] {
  const paths = new EntryPaths();
  const files: E[] = [];
  let totalBytes = 0;
  for (const entry of entries) {
    const { fileName } = entry;
    const isFolder = fileName.endsWith('/');
    const path = isFolder ? fileName.slice(0, -1) : fileName;
    const fault = kindFault(entry, isFolder) ?? paths.add(path, isFolder ? 'folder' : 'file');
    if (fault !== undefined) throw badEntry(fileName, fault);
    if (isFolder) continue;
    if (isBomb(entry)) throw badEntry(fileName, 'unpacks to far more than it is packed, as a bomb does');
    totalBytes += entry.uncompressedSize;
    if (entry.uncompressedSize > rules.fileBytes || totalBytes > rules.totalBytes) throw tooLarge();
    files.push(entry);
    if (files.length > rules.files) throw tooLarge();
  }
  assertApart(files, archiveBytes);
  return files;
}

/** Entries of a directory that are read at most, folders included: more than an app has. */
export const mostZipEntries = 2 * appLimits.files;

function kindFault(entry: ZipEntry, isFolder: boolean): string | undefined {
  if ((entry.generalPurposeBitFlag & 0x41) !== 0) return 'is encrypted';
  if (entry.compressionMethod !== 0 && entry.compressionMethod !== 8)
    return `is packed in a way that is not read (${entry.compressionMethod})`;
  if (isFolder && entry.uncompressedSize > 0) return 'is a folder with content';
  // The upper half is what the system that made it says of the file; only Unix writes a mode there (§4.4.2).
  const mode = entry.externalFileAttributes >>> 16;
  const isUnix = entry.versionMadeBy >>> 8 === 3 || mode !== 0;
  const kind = mode & 0o170000;
  if (!isUnix || kind === 0) return undefined;
  if (kind === 0o120000) return 'is a symbolic link';
  if (kind === 0o040000) return isFolder ? undefined : 'is a folder and a file';
  if (kind === 0o100000) return isFolder ? 'is a folder and a file' : undefined;
  return 'is a device, pipe or socket';
}

function isBomb({ compressedSize, uncompressedSize }: ZipEntry): boolean {
  return uncompressedSize > 1024 * 1024 && uncompressedSize > compressedSize * appLimits.packRatio;
}

/** The fixed part of a local header (§4.3.7). */
const localHeaderBytes = 30;

function assertApart(files: readonly ZipEntry[], archiveBytes: number): void {
  const sorted = [...files].sort((a, b) => a.relativeOffsetOfLocalHeader - b.relativeOffsetOfLocalHeader);
  let end = 0;
  for (const { relativeOffsetOfLocalHeader: start, compressedSize, fileName } of sorted) {
    if (start < end) throw badEntry(fileName, 'lies over another entry of the archive');
    end = start + localHeaderBytes + compressedSize;
    if (end > archiveBytes)
      throw new UserError(
        'unsafe-path',
        'The archive is cut off: its directory names bytes that are not there',
      );
  }
}

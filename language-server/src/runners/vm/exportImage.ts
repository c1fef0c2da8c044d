import { createHash } from 'node:crypto';
import { createWriteStream, rmSync, statSync } from 'node:fs';
import { open, rename } from 'node:fs/promises';
import { Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { UserError } from '../../../../protocol/src/errors.ts';
import { toFileError } from '../../../../remote-agent/src/files/fileError.ts';
import { filledParts, type Part } from './filledParts.ts';
import type { SpawnTool } from './tools.ts';
import { imageFiles } from './vmFolder.ts';
import type { VmImage } from './vmImage.ts';

/**
 * An image as one file, for a computer that can't build one: gzip over a line that names the format, a line of JSON
 * (`ArchiveHead`), and the content of each file in its order. Of a file only the blocks that are not empty are there,
 * each after its offset and its length, big-endian; a length of zero ends the file.
 */
export const archiveLine = 'sallyport-vm-image 1\n';
export const archivedNames = ['kernel', 'initrd', 'root', 'disk'] as const;
export const archiveBlockBytes = 64 * 1024;
export const archiveRecordBytes = 12;

export interface ArchiveHead {
  readonly image: VmImage;
  /** Bytes of each of `archivedNames`. */
  readonly sizes: readonly number[];
}

export interface ExportOptions {
  /** The image's folder. */
  readonly folder: string;
  readonly image: VmImage;
  /** Absolute; it must not exist. */
  readonly file: string;
  readonly spawnTool: SpawnTool;
  readonly signal: AbortSignal;
  readonly onStep: (text: string, fraction: number) => void;
}

/**
 * Writes an image to a file and returns the file's SHA-256, by which it is known where it is taken in. Throws
 * `conflict` where there is such a file, `isolation-missing` without qemu-img, `disk-full`, `unreadable`, `cancelled`;
 * nothing is left then.
 */
export async function exportImage(options: ExportOptions): Promise<{ digest: string; sizeBytes: number }> {
  const { file, signal } = options;
  if (statSync(file, { throwIfNoEntry: false }))
    throw new UserError('conflict', `There is a file ${file} already`, { path: file });
  const part = `${file}.part`;
  const sum = createHash('sha256');
  let sizeBytes = 0;
  const measure = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sum.update(chunk);
      sizeBytes += chunk.length;
      done(null, chunk);
    },
  });
  try {
    const target = createWriteStream(part, { flags: 'wx', mode: 0o600 });
    await pipeline(Readable.from(contents(options)), createGzip({ level: 1 }), measure, target, { signal });
    await rename(part, file);
    return { digest: sum.digest('hex'), sizeBytes };
  } catch (error) {
    rmSync(part, { force: true });
    if (signal.aborted) throw new UserError('cancelled', 'Writing the image was cancelled');
    throw toFileError(error, 'write', file);
  }
}

async function* contents(options: ExportOptions): AsyncGenerator<Buffer> {
  const { folder, image, onStep } = options;
  const files = imageFiles(folder);
  const sizes = archivedNames.map((name) => statSync(files[name]).size);
  const head: ArchiveHead = { image, sizes };
  yield Buffer.from(`${archiveLine}${JSON.stringify(head)}\n`);
  for (const [at, name] of archivedNames.entries()) {
    onStep(`Writing ${name}`, at / archivedNames.length);
    const file = { path: files[name], sizeBytes: sizes[at] ?? 0 };
    yield* blocksOf(file.path, await filledParts(file, archiveBlockBytes, options));
  }
  onStep('Done', 1);
}

async function* blocksOf(path: string, parts: readonly Part[]): AsyncGenerator<Buffer> {
  const file = await open(path, 'r');
  try {
    for (const { start, end } of parts)
      for (let offset = start; offset < end; offset += archiveBlockBytes) {
        const block = Buffer.allocUnsafe(Math.min(archiveBlockBytes, end - offset));
        const { bytesRead } = await file.read(block, 0, block.length, offset);
        if (bytesRead < block.length) throw new Error(`${path} became shorter`);
        if (!isEmpty(block)) yield Buffer.concat([record(offset, block.length), block]);
      }
    yield record(0, 0);
  } finally {
    await file.close();
  }
}

const nothing = Buffer.alloc(archiveBlockBytes);

function isEmpty(bytes: Buffer): boolean {
  return bytes.equals(nothing.subarray(0, bytes.length));
}

function record(offset: number, length: number): Buffer {
  const bytes = Buffer.alloc(archiveRecordBytes);
  bytes.writeBigUInt64BE(BigInt(offset));
  bytes.writeUInt32BE(length, 8);
  return bytes;
}

import { createHash } from 'node:crypto';
import { createReadStream, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { createGunzip } from 'node:zlib';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { ByteReader } from '../../../../remote-agent/src/files/byteReader.ts';
import { systemCode, toFileError } from '../../../../remote-agent/src/files/fileError.ts';
import { archiveBlockBytes, archivedNames, archiveLine, archiveRecordBytes } from './exportImage.ts';
import { imageFiles, type VmFolder } from './vmFolder.ts';
import { vmImage, type VmImage } from './vmImage.ts';

const head = z.strictObject({
  image: vmImage,
  sizes: z.array(z.int().check(z.minimum(1))).check(z.length(archivedNames.length)),
});

export interface ImportOptions {
  readonly folder: VmFolder;
  /** Absolute. */
  readonly file: string;
  /** The SHA-256 that a person gave, of the file that they mean; undefined to be told it. */
  readonly accept: string | undefined;
  /** Why this computer can't use such an image; undefined where it can. */
  readonly fault: (image: VmImage) => UserError | undefined;
  /** The most that the disks of an image may be. */
  readonly diskBytes: number;
  readonly signal: AbortSignal;
}

export interface Imported {
  /** SHA-256 of the file. */
  readonly digest: string;
  readonly image: VmImage;
  /** False where another digest was accepted, or none: then nothing was changed. */
  readonly isInstalled: boolean;
}

/**
 * Puts an exported image in place of the image before, in one step, where the file is the one that a person accepted;
 * of any other no more than its heading is unpacked. Throws `bad-message` for what is no such file, what `fault` says,
 * `disk-full`, `unreadable`, `cancelled`; nothing is changed then.
 */
export async function importImage(options: ImportOptions): Promise<Imported> {
  const { folder, file, accept, fault, signal } = options;
  const work = mkdtempSync(join(folder.path, 'import-'));
  try {
    const said = await readArchive(file, signal, (reader) => readHead(reader));
    if (said.digest !== accept) return { digest: said.digest, image: said.result.image, isInstalled: false };
    const refusal = fault(said.result.image);
    if (refusal) throw refusal;
    const { digest, result: image } = await readArchive(file, signal, (reader) =>
      unpack(reader, work, options),
    );
    // It was another one the second time.
    if (digest !== accept) return { digest, image, isInstalled: false };
    const compressed = kernelFault(image, imageFiles(work).kernel);
    if (compressed) throw compressed;
    writeFileSync(imageFiles(work).facts, JSON.stringify(image, null, 2), { mode: 0o600 });
    rmSync(folder.image, { recursive: true, force: true });
    renameSync(work, folder.image);
    return { digest, image, isInstalled: true };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Reads a file to its end for its SHA-256, and what of it `read` makes something of. */
async function readArchive<T>(
  file: string,
  signal: AbortSignal,
  read: (reader: ByteReader) => Promise<T>,
): Promise<{ readonly digest: string; readonly result: T }> {
  const sum = createHash('sha256');
  const unpacked = createGunzip();
  let fault: unknown;
  const result = read(new ByteReader(unpacked)).finally(() => unpacked.destroy());
  result.catch((error: unknown) => (fault = error));
  unpacked.on('error', () => undefined);
  try {
    for await (const chunk of createReadStream(file, { signal })) {
      sum.update(chunk as Buffer);
      if (unpacked.destroyed || unpacked.write(chunk)) continue;
      await new Promise<void>((resolve) => {
        const done = () => {
          unpacked.off('drain', done).off('close', done);
          resolve();
        };
        unpacked.on('drain', done).on('close', done);
      });
    }
    unpacked.end();
    return { result: await result, digest: sum.digest('hex') };
  } catch (error) {
    unpacked.destroy();
    if (signal.aborted) throw new UserError('cancelled', 'Reading the image was cancelled');
    if (fault === error && !(error instanceof UserError) && systemCode(error) === '')
      throw bad('it is damaged or cut');
    if (systemCode(error).startsWith('Z_')) throw bad('it is damaged or cut');
    throw toFileError(error, 'read', file);
  }
}

async function readHead(reader: ByteReader): Promise<z.infer<typeof head>> {
  if ((await need(reader, archiveLine.length)).toString('latin1') !== archiveLine)
    throw bad('it does not begin as one');
  let line = '';
  for (let text = ''; text !== '\n'; text = (await need(reader, 1)).toString('latin1')) {
    line += text;
    if (line.length > headBytes) throw bad('its heading is too long');
  }
  const parsed = z.safeParse(head, parse(Buffer.from(line, 'latin1').toString('utf8')));
  if (!parsed.success) throw bad('its heading is of another version, or none');
  return parsed.data;
}

async function unpack(reader: ByteReader, work: string, { diskBytes }: ImportOptions): Promise<VmImage> {
  const { image, sizes } = await readHead(reader);
  const files = imageFiles(work);
  for (const [at, name] of archivedNames.entries()) {
    const size = sizes[at] ?? 0;
    if (size > (name === 'disk' || name === 'root' ? diskBytes : bootBytes))
      throw bad(`${name} is too large`);
    const target = await open(files[name], 'wx', 0o600);
    try {
      await target.truncate(size);
      for (let end = 0; ;) {
        const record = await need(reader, archiveRecordBytes);
        const offset = Number(record.readBigUInt64BE());
        const length = record.readUInt32BE(8);
        if (length === 0) break;
        if (length > archiveBlockBytes || offset < end || offset + length > size)
          throw bad(`${name} has a part out of place`);
        await target.write(await need(reader, length), 0, length, offset);
        end = offset + length;
      }
    } finally {
      await target.close();
    }
  }
  if (await reader.read(1)) throw bad('something follows it');
  return image;
}

async function need(reader: ByteReader, count: number): Promise<Buffer> {
  return (await reader.read(count)) ?? Promise.reject(bad('it ends too early'));
}

const headBytes = 1024 * 1024;
const bootBytes = 256 * 1024 * 1024;

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Apple's framework starts a kernel of arm64 only as it lies in memory (Documentation/arch/arm64/booting.rst). */
function kernelFault({ architecture }: VmImage, kernel: string): UserError | undefined {
  if (architecture !== 'arm64' || readFileSync(kernel).toString('latin1', 56, 60) === 'ARM\x64')
    return undefined;
  return new UserError('incompatible', 'The kernel of this image is compressed, and a Mac can’t start it');
}

function bad(why: string): UserError {
  return new UserError('bad-message', `This is no image of a VM that Sallyport has written: ${why}`);
}

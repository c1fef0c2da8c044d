import { close, constants, fstat, open } from 'node:fs';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { fromFdPromise, type Entry, type ZipFile } from 'yauzl';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { systemCode, toFileError } from '../../../../remote-agent/src/files/fileError.ts';
import { badEntry, tooLarge } from '../tree/frozenTree.ts';
import { judgeZip, mostZipEntries } from './zipEntries.ts';

const openFile = promisify(open);
const closeFile = promisify(close);
const statFile = promisify(fstat);
const optional: Readonly<Record<string, number | undefined>> = constants;
const flags = constants.O_RDONLY | (optional['O_NOFOLLOW'] ?? 0) | (optional['O_NONBLOCK'] ?? 0);

/**
 * Reads a `.zip`: judges all of it by `judgeZip`, then hands over each file with its bytes, one after the other. What an
 * entry unpacks to is counted while it is unpacked and compared with its checksum. Throws `unreadable` for what is no
 * archive or is cut, and as `judgeZip` does; then `take` was either never called, or what it took is to be dropped.
 */
export async function readZip(
  path: string,
  take: (path: string, bytes: Buffer) => void,
  signal: AbortSignal,
): Promise<void> {
  const descriptor = await openFile(path, flags).catch((error: unknown) => {
    if (systemCode(error) === 'ELOOP')
      throw new UserError('unsafe-path', `${path} is a link; name the file that it leads to`, { path });
    throw toFileError(error, 'open', path);
  });
  try {
    const stat = await statFile(descriptor);
    if (!stat.isFile()) throw new UserError('unreadable', `${path} is no regular file`, { path });
    if (stat.size > appLimits.archiveBytes) throw tooLarge();
    const zip = await fromFdPromise(descriptor, {
      lazyEntries: true,
      autoClose: false,
      strictFileNames: true,
      validateEntrySizes: true,
    });
    const files = judgeZip(await entriesOf(zip), stat.size);
    for (const entry of files) {
      signal.throwIfAborted();
      take(entry.fileName, await unpack(zip, entry));
    }
  } catch (error) {
    if (error instanceof UserError || signal.aborted) throw error;
    const text = `${path} is no sound zip archive, or it was cut off: ${errorMessage(error)}`;
    throw new UserError('unreadable', text, { path }, { cause: error });
  } finally {
    await closeFile(descriptor);
  }
}

async function entriesOf(zip: ZipFile): Promise<Entry[]> {
  if (zip.entryCount > mostZipEntries) throw tooLarge();
  const entries: Entry[] = [];
  for await (const entry of zip.eachEntry()) {
    entries.push(entry);
    if (entries.length > mostZipEntries) throw tooLarge();
  }
  return entries;
}

async function unpack(zip: ZipFile, entry: Entry): Promise<Buffer> {
  const stream = await zip.openReadStreamPromise(entry);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > entry.uncompressedSize)
      throw badEntry(entry.fileName, 'unpacks to more than the archive says');
    chunks.push(chunk);
  }
  const bytes = Buffer.concat(chunks);
  if (size !== entry.uncompressedSize || crc32(bytes) !== entry.crc32)
    throw badEntry(entry.fileName, 'is damaged: its checksum is another one');
  return bytes;
}

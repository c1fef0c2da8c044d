import { open } from 'node:fs/promises';
import { crc32, deflateRawSync } from 'node:zlib';
import { UserError } from '../../../protocol/src/errors.ts';
import { toFileError } from '../../../remote-agent/src/files/fileError.ts';

/** A zip archive that is being written. */
export interface ZipWriter {
  /** Paths are UTF-8 with `/`. */
  add(path: string, bytes: Uint8Array): Promise<void>;
  /** Writes the directory, syncs and closes. Returns the size of the file. */
  finish(): Promise<number>;
  /** Closes what was not finished; the file is the caller's to remove. */
  drop(): Promise<void>;
}

/**
 * Begins a zip archive (PKWARE APPNOTE.TXT, without Zip64) in a fresh file of mode 0600. Throws `too-large` where it
 * would need Zip64.
 */
export async function createZip(path: string, at: Date): Promise<ZipWriter> {
  const file = await open(path, 'wx', 0o600).catch((error: unknown) => {
    throw toFileError(error, 'write', path);
  });
  const directory: Buffer[] = [];
  const stamp = dosTime(at);
  let offset = 0;
  let isOpen = true;
  const write = async (bytes: Uint8Array) => {
    if (offset + bytes.length > largest)
      throw new UserError('too-large', `${path} would be larger than 4 GB`, { path });
    await file.writeFile(bytes);
    offset += bytes.length;
  };
  const close = async () => {
    if (isOpen) await file.close();
    isOpen = false;
  };
  return {
    async add(name, bytes) {
      const packed = deflateRawSync(bytes);
      const isSmaller = packed.length < bytes.length;
      const data = isSmaller ? packed : bytes;
      const encoded = Buffer.from(name, 'utf8');
      const common = Buffer.alloc(26);
      common.writeUInt16LE(20, 0);
      common.writeUInt16LE(0x800, 2);
      common.writeUInt16LE(isSmaller ? 8 : 0, 4);
      common.writeUInt16LE(stamp.time, 6);
      common.writeUInt16LE(stamp.date, 8);
      common.writeUInt32LE(crc32(bytes), 10);
      common.writeUInt32LE(data.length, 14);
      common.writeUInt32LE(bytes.length, 18);
      common.writeUInt16LE(encoded.length, 22);
      const central = Buffer.alloc(14);
      // Made by Unix: a regular file that its owner reads and writes.
      central.writeUInt32LE((0o100600 << 16) >>> 0, 4 + 2);
      central.writeUInt32LE(offset, 10);
      if (directory.length / 2 >= mostEntries)
        throw new UserError('too-large', `${path} would have too many files`);
      directory.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 3]), common, central]), encoded);
      await write(Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), common, encoded]));
      await write(data);
    },
    async finish() {
      const start = offset;
      const all = Buffer.concat(directory);
      const count = directory.length / 2;
      await write(all);
      const end = Buffer.alloc(22);
      end.writeUInt32LE(0x06054b50, 0);
      end.writeUInt16LE(count, 8);
      end.writeUInt16LE(count, 10);
      end.writeUInt32LE(all.length, 12);
      end.writeUInt32LE(start, 16);
      await write(end);
      await file.sync();
      await close();
      return offset;
    },
    drop: close,
  };
}

const largest = 0xffff_ffff;
const mostEntries = 0xffff;

function dosTime(at: Date): { time: number; date: number } {
  const year = Math.min(2107, Math.max(1980, at.getUTCFullYear()));
  return {
    time: (at.getUTCHours() << 11) | (at.getUTCMinutes() << 5) | (at.getUTCSeconds() >> 1),
    date: ((year - 1980) << 9) | ((at.getUTCMonth() + 1) << 5) | at.getUTCDate(),
  };
}

import { crc32, deflateRawSync } from 'node:zlib';

/** One entry of an archive that may lie: what is not named here is written as an honest archiver does. */
export interface RawEntry {
  readonly name: string | Buffer;
  readonly content?: string | Buffer;
  /** Unix mode with its file type: `0o120777` is a link. */
  readonly mode?: number;
  readonly flags?: number;
  readonly method?: number;
  readonly stored?: boolean;
  readonly crc?: number;
  /** Sizes that are written, whatever the content has. */
  readonly uncompressedSize?: number;
  readonly compressedSize?: number;
  /** Points to the data of the entry with this index. */
  readonly at?: number;
}

/** An archive of these entries (PKWARE APPNOTE.TXT). */
export function rawZip(entries: readonly RawEntry[], { cut = 0 }: { cut?: number } = {}): Buffer {
  const parts: Buffer[] = [];
  const directory: Buffer[] = [];
  const offsets: number[] = [];
  let offset = 0;
  for (const entry of entries) {
    const name = Buffer.from(entry.name);
    const content = Buffer.from(entry.content ?? '');
    const method = entry.method ?? (entry.stored === false ? 8 : 0);
    const data = method === 8 ? deflateRawSync(content) : content;
    const common = Buffer.alloc(26);
    common.writeUInt16LE(20, 0);
    common.writeUInt16LE(entry.flags ?? 0x800, 2);
    common.writeUInt16LE(method, 4);
    common.writeUInt32LE(entry.crc ?? crc32(content), 10);
    common.writeUInt32LE(entry.compressedSize ?? data.length, 14);
    common.writeUInt32LE(entry.uncompressedSize ?? content.length, 18);
    common.writeUInt16LE(name.length, 22);
    const tail = Buffer.alloc(14);
    tail.writeUInt32LE(((entry.mode ?? 0o100644) << 16) >>> 0, 6);
    tail.writeUInt32LE(entry.at === undefined ? offset : (offsets[entry.at] ?? 0), 10);
    offsets.push(offset);
    directory.push(Buffer.concat([Buffer.from([0x50, 0x4b, 1, 2, 20, 3]), common, tail, name]));
    if (entry.at !== undefined) continue;
    const local = Buffer.concat([Buffer.from([0x50, 0x4b, 3, 4]), common, name, data]);
    parts.push(local);
    offset += local.length;
  }
  const all = Buffer.concat(directory);
  const end = Buffer.alloc(22);
  end.writeUInt32LE(0x06054b50, 0);
  end.writeUInt16LE(entries.length & 0xffff, 8);
  end.writeUInt16LE(entries.length & 0xffff, 10);
  end.writeUInt32LE(all.length, 12);
  end.writeUInt32LE(offset, 16);
  const whole = Buffer.concat([...parts, all, end]);
  return whole.subarray(0, whole.length - cut);
}

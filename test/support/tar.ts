/** One entry of a tar archive that may lie: what is not named is written as an honest archiver does. */
export interface TarEntry {
  readonly path: string;
  readonly content?: string;
  /** `0` a file, `1` hard link, `2` symbolic link, `3` device, `5` folder, `6` pipe, `x` pax, `L` GNU long name. */
  readonly type?: string;
  readonly link?: string;
  readonly size?: number;
  readonly sizeText?: string;
  readonly checksum?: number;
}

/** An archive of these entries (POSIX ustar), with its two empty blocks at the end. */
export function tarOf(entries: readonly TarEntry[]): Buffer {
  const parts = entries.flatMap((entry) => {
    const content = Buffer.from(entry.content ?? '');
    const header = Buffer.alloc(512);
    const cut = entry.path.length > 100 ? entry.path.indexOf('/', entry.path.length - 101) : -1;
    header.write(entry.path.slice(cut + 1), 0, 100);
    header.write('0000644\0', 100);
    header.write(entry.sizeText ?? (entry.size ?? content.length).toString(8).padStart(11, '0'), 124);
    header.write(entry.type ?? '0', 156);
    header.write(entry.link ?? '', 157, 100);
    header.write('ustar\0' + '00', 257);
    if (cut > 0) header.write(entry.path.slice(0, cut), 345, 155);
    header.fill(' ', 148, 156);
    const sum = entry.checksum ?? header.reduce((total, byte) => total + byte, 0);
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148);
    return [header, content, Buffer.alloc((512 - (content.length % 512)) % 512)];
  });
  return Buffer.concat([...parts, Buffer.alloc(1024)]);
}

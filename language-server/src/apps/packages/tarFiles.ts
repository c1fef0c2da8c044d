import { UserError } from '../../../../protocol/src/errors.ts';
import { appLimits } from '../../../../protocol/src/limits.ts';
import { badEntry } from '../tree/frozenTree.ts';
import { EntryPaths } from '../tree/entryPaths.ts';

const block = 512;

/**
 * The regular files of a package's tar archive (POSIX ustar, pax path records, GNU long names), whole archive judged as
 * it is read. The first folder of every path is dropped, as npm does. Links, devices and anything else refuse all of
 * it; so do a wrong checksum and a size that the archive does not have. `shown` names the archive in messages.
 */
export function readTar(bytes: Uint8Array, shown: string): Map<string, Uint8Array> {
  const view = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const files = new Map<string, Uint8Array>();
  const paths = new EntryPaths();
  let longName: string | undefined;
  for (let at = 0; at + block <= view.length;) {
    const header = view.subarray(at, at + block);
    if (header.every((byte) => byte === 0)) return files;
    const { name, size, type } = readHeader(header, shown);
    const start = at + block;
    if (start + size > view.length) throw cut(shown);
    const content = view.subarray(start, start + size);
    at = start + Math.ceil(size / block) * block;
    if (type === 'x' || type === 'L') {
      longName = type === 'x' ? (paxPath(content, shown) ?? longName) : untilNul(content);
      continue;
    }
    const path = longName ?? name;
    longName = undefined;
    if (type === 'g' || type === '5') continue;
    if (type !== '0' && type !== '\0' && type !== '7')
      throw badEntry(`${shown}: ${path}`, 'is a link or a device');
    const below = path.slice(path.indexOf('/') + 1);
    if (!path.includes('/') || path.startsWith('/'))
      throw badEntry(`${shown}: ${path}`, 'is not in the folder of a package');
    const fault = paths.add(below, 'file');
    if (fault !== undefined) throw badEntry(`${shown}: ${path}`, fault);
    files.set(below, content);
    if (files.size > appLimits.files) throw new UserError('too-large', `${shown} has too many files`);
  }
  throw cut(shown);
}

function readHeader(header: Buffer, shown: string): { name: string; size: number; type: string } {
  const sum = header.reduce((total, byte, at) => total + (at >= 148 && at < 156 ? 0x20 : byte), 0);
  if (sum !== octal(header.subarray(148, 156), shown)) throw cut(shown);
  const prefix = header.toString('latin1', 257, 262) === 'ustar' ? untilNul(header.subarray(345, 500)) : '';
  const own = untilNul(header.subarray(0, 100));
  return {
    name: prefix === '' ? own : `${prefix}/${own}`,
    size: octal(header.subarray(124, 136), shown),
    type: header.toString('latin1', 156, 157),
  };
}

function octal(field: Buffer, shown: string): number {
  const text = untilNul(field).trim();
  if (!/^[0-7]{1,12}$/.test(text)) throw cut(shown);
  return Number.parseInt(text, 8);
}

/** The `path` of pax records: `LENGTH KEY=VALUE\n`, the length counting itself. Another size or a link is refused. */
function paxPath(content: Buffer, shown: string): string | undefined {
  let path: string | undefined;
  for (let at = 0; at < content.length;) {
    const space = content.indexOf(0x20, at);
    const length = Number(content.toString('latin1', at, Math.max(at, space)));
    if (space < 0 || !Number.isInteger(length) || length < 5 || at + length > content.length)
      throw cut(shown);
    const record = content.toString('utf8', space + 1, at + length - 1);
    const equals = record.indexOf('=');
    const key = record.slice(0, equals);
    if (key === 'path') path = record.slice(equals + 1);
    if (key === 'size' || key === 'linkpath' || key.startsWith('GNU.sparse'))
      throw badEntry(shown, `has an entry whose ${key} is written elsewhere`);
    at += length;
  }
  return path;
}

function untilNul(field: Buffer): string {
  const end = field.indexOf(0);
  return field.toString('utf8', 0, end < 0 ? field.length : end);
}

function cut(shown: string): UserError {
  return new UserError('unreadable', `${shown} is no sound package, or it was cut off.`);
}

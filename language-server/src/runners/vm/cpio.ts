import { Buffer } from 'node:buffer';

export interface CpioEntry {
  /** Relative, with `/`. */
  readonly path: string;
  /** Absent for a folder. */
  readonly content?: Uint8Array;
  /** Permission bits. */
  readonly mode: number;
}

const folderType = 0o040000;
const fileType = 0o100000;

/**
 * An archive in the form that the Linux kernel unpacks at its start (Documentation/driver-api/early-userspace/
 * buffer-format.rst, `070701`). Folders come before what is in them; everything belongs to root and has no date.
 */
export function packCpio(entries: readonly CpioEntry[]): Buffer {
  const parts = entries.map(({ path, content, mode }, at) =>
    record(path, (content ? fileType : folderType) | mode, content ?? empty, at + 1),
  );
  return Buffer.concat([...parts, record('TRAILER!!!', 0, empty, 0)]);
}

const empty = new Uint8Array();

function record(path: string, mode: number, content: Uint8Array, inode: number): Buffer {
  const name = Buffer.from(`${path}\0`);
  const fields = [inode, mode, 0, 0, 1, 0, content.length, 0, 0, 0, 0, name.length, 0];
  const head = Buffer.concat([
    Buffer.from(`070701${fields.map((field) => field.toString(16).padStart(8, '0')).join('')}`, 'latin1'),
    name,
  ]);
  return Buffer.concat([pad(head), pad(content)]);
}

function pad(bytes: Uint8Array): Buffer {
  return Buffer.concat([bytes, Buffer.alloc((4 - (bytes.length % 4)) % 4)]);
}

import { readFileSync, statfsSync } from 'node:fs';
import { scratchBytes } from './limits.ts';

/** What the kernel keeps for a file of a tmpfs beside its content: inode and directory entry, rounded up. */
const fileBytes = 1024;

/** What one socket may have waiting: net.core.wmem_default. The filter of system calls keeps a card from asking for more. */
const socketBytes = 212_992;

/** As many sockets as an ordinary program has are not counted: theirs are empty. */
const freeSockets = 128;

/** TMPFS_MAGIC of statfs(2): on any other file system the numbers are not the card's alone. */
const tmpfsMagic = 0x01021994;

const memoryFolders = [...Object.keys(scratchBytes), '/out', '/dev/shm'];

/**
 * Memory that a sandbox makes the kernel hold and that no process's resident size shows, in bytes: files in memory
 * beside their content, which has a bound of its own, and what waits in sockets. `pid` is its first process. Without
 * a network namespace of its own its sockets can't be told from those of the machine and are not counted. 0 where
 * the sandbox is gone or the system does not say.
 */
export function hiddenMemory(pid: number, ownNetwork: boolean): number {
  const files = memoryFolders.reduce((sum, folder) => sum + filesIn(`/proc/${pid}/root${folder}`), 0);
  return files * fileBytes + (ownNetwork ? waitingBytes(pid) : 0);
}

function filesIn(folder: string): number {
  try {
    const { type, files, ffree } = statfsSync(folder);
    return type === tmpfsMagic ? files - ffree : 0;
  } catch {
    return 0;
  }
}

function waitingBytes(pid: number): number {
  const told = /^sockets: used ([0-9]+)/.exec(read(pid, 'sockstat'))?.[1];
  // A socket that was closed with bytes in it is still counted there. The tables are the whole machine's: to look through
  // those of a small VM, with nothing in them, takes three million instructions.
  if (told === '0') return 0;
  const queues = queuedBytes(read(pid, 'tcp')) + queuedBytes(read(pid, 'tcp6'));
  return Math.max(0, Number(told ?? 0) - freeSockets) * socketBytes + queues;
}

/** The queues of all connections in the text of /proc/net/tcp (proc_pid_net(5)): TCP sizes its buffers itself. */
export function queuedBytes(text: string): number {
  return [...text.matchAll(/ ([0-9A-F]{8}):([0-9A-F]{8}) [0-9A-F]{2}:/g)].reduce(
    (sum, [, sent = '0', received = '0']) => sum + Number.parseInt(sent, 16) + Number.parseInt(received, 16),
    0,
  );
}

function read(pid: number, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/net/${name}`, 'latin1');
  } catch {
    return '';
  }
}

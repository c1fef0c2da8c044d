import { closeSync, constants, fstatSync, openSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { JobAccess } from '../../../../protocol/src/runner.ts';
import { guestSharePath } from '../../../../protocol/src/vmGuest.ts';
import { assertShareable } from '../../../../remote-agent/src/sharedFolder.ts';

/** A folder of this machine that a VM is shown. */
export interface VmShare {
  readonly path: string;
  readonly write: boolean;
  /** Device and inode: another folder at the same path is another share. */
  readonly identity: string;
}

/** Each is a device of the VM, and those are few. */
export const mostShares = 8;

/**
 * The shares that a VM must have for a card with these folders, each once, in one order. Throws `unsafe-path` for
 * folders that no card is shown; `privateFolders` are Sallyport's own.
 */
export function sharesOf(
  folders: JobAccess['hostFolders'],
  privateFolders: readonly string[],
): readonly VmShare[] {
  const found = new Map<string, VmShare>();
  for (const { path, write } of folders) {
    assertShareable(path, privateFolders);
    const { descriptor, identity } = openFolder(path);
    closeSync(descriptor);
    found.set(shareName(path, write), { path, write, identity });
  }
  if (found.size > mostShares) {
    throw new UserError(
      'unsafe-path',
      `A VM shows at most ${mostShares} folders, and the card asks for more`,
      {
        remedy: 'Share a folder that holds them, or run the card here.',
      },
    );
  }
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, share]) => share);
}

/** The folders of a job as the VM with these shares has them. */
export function foldersInside(
  folders: JobAccess['hostFolders'],
  shares: readonly VmShare[],
): JobAccess['hostFolders'] {
  const names = shares.map(({ path, write }) => shareName(path, write));
  return folders.map(({ path, name, write }) => {
    const number = names.indexOf(shareName(path, write));
    if (number < 0) throw new UserError('internal', `The VM does not have the folder ${path}`);
    return { path: guestSharePath(number), name, write };
  });
}

/**
 * Opens the folder of a share without following a link as its last component. Throws `unsafe-path` where another one is
 * there by now.
 */
export function openShare({ path, identity }: VmShare): number {
  const opened = openFolder(path);
  if (opened.identity === identity) return opened.descriptor;
  closeSync(opened.descriptor);
  throw new UserError('unsafe-path', `The folder ${path} was replaced while it was being shared`, {
    path,
    remedy: 'Run the card again.',
  });
}

function openFolder(path: string): { descriptor: number; identity: string } {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);
  const { dev, ino } = fstatSync(descriptor, { bigint: true });
  return { descriptor, identity: `${dev}:${ino}` };
}

function shareName(path: string, write: boolean): string {
  return `${path} ${write ? 'rw' : 'ro'}`;
}

/** The name of a share's socket in the VM's folder. */
export function shareSocket(number: number): string {
  return `share${number}`;
}

/** The filter of the servers, in the VM's folder. */
export const filterFile = 'groups.bpf';

/** All that serving shares leaves in the VM's folder. */
export const shareFiles: readonly string[] = [
  filterFile,
  ...Array.from({ length: mostShares }, (_, number) => shareSocket(number)).flatMap((name) => [
    name,
    `${name}.new`,
    `${name}.log`,
  ]),
];

import * as z from 'zod/mini';

/**
 * Engine ↔ the first program of a VM, over three virtio-serial ports. A port has no connections of its own, so each use
 * of it begins with a line of the engine, and what the guest sends counts from the line that answers it.
 *
 * `control` and `bulk` lead to the runner. `terminal` leads to an SSH server (RFC 4253) that was offered before with
 * `terminal/offer` over `control`, and to nothing without such an offer.
 */

/** The names of the ports, as they stand in `/sys/class/virtio-ports/<port>/name`. */
export const guestPorts = {
  control: 'sallyport.control',
  bulk: 'sallyport.bulk',
  terminal: 'sallyport.terminal',
} as const;
export type GuestPort = keyof typeof guestPorts;

/**
 * The same ports as vsock(7) has them, for hosts whose VMs have no serial ones. The kernel's command line says so:
 * `sallyport.ports=vsock`. The host connects; each connection is one use, and begins as every use does.
 */
export const guestVsock = {
  parameter: 'sallyport.ports=vsock',
  ports: { control: 7001, bulk: 7002, terminal: 7003 },
} as const;

/** The engine's line, as JSON. */
export const guestOpening = z.strictObject({
  /** Unguessable, new for each use: the answer repeats it. */
  token: z.string().check(z.regex(/^[a-f0-9]{32}$/)),
  /** Milliseconds since the epoch: a VM that was stored knows a wrong time. */
  epochMs: z.number(),
  /** 64 random bytes, base64, mixed into the kernel's generator: VMs started from one store share its state. */
  entropy: z.string().check(z.regex(/^[A-Za-z0-9+/]{86}==$/)),
  /** Names this start of the VM; another one is another runner. */
  instance: z.string().check(z.regex(/^[a-f0-9]{24}$/)),
});
export type GuestOpening = z.infer<typeof guestOpening>;

/** The guest's answer, its line feed included. */
export function guestAnswer(token: string): string {
  return `opened ${token}\n`;
}

/** The longest line of an opening. */
export const guestOpeningBytes = 1024;

/** How a folder is shared with a VM: what is `ro` is read-only on both sides. */
export type ShareMode = 'ro' | 'rw';

/**
 * Folders of the host in a VM. The kernel's command line says how many there are and how: `sallyport.shares=ro,rw`.
 * Each has a virtiofs device by its number and is mounted by it.
 */
export const guestShares = {
  parameter: 'sallyport.shares',
  folder: '/run/sallyport/shares',
  tag: 'sallyport-share',
  /** Whom the owner of the shared folders is in the VM, and so whom its cards act as. */
  user: { uid: 1000, gid: 1000 },
} as const;

/** Where the share of this number is mounted in the VM. */
export function guestSharePath(number: number): string {
  return `${guestShares.folder}/${number}`;
}

/** True for the path of a share, whether it is there or not. */
export function isGuestShare(path: string): boolean {
  return /^\/run\/sallyport\/shares\/[0-9]$/.test(path);
}

/**
 * Word of the kernel's command line, in a VM whose every instruction is translated: what runs in a card's sandbox is put
 * at the same addresses at each start, so that what was translated before serves again.
 */
export const guestFixedAddresses = 'sallyport.addresses=fixed';

/** What the guest writes to its console when it waits for the engine. */
export const guestReadyLine = 'sallyport guest ready';

/** Whom a person is in the terminal of a VM: neither root nor the user of a card. */
export const guestPerson = {
  name: 'person',
  id: 2000,
  home: '/home/person',
  /** What a shell reads at its start. */
  start: '/usr/lib/sallyport/terminalrc',
} as const;

import * as z from 'zod/mini';

/**
 * Engine ↔ the first program of a VM, over two virtio-serial ports. A port has no connections of its own, so each use
 * of it begins with a line of the engine, and what the guest sends counts from the line that answers it.
 */

/** The names of the ports, as they stand in `/sys/class/virtio-ports/<port>/name`. */
export const guestPorts = { control: 'sallyport.control', bulk: 'sallyport.bulk' } as const;
export type GuestPort = keyof typeof guestPorts;

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

/** What the guest writes to its console when it waits for the engine. */
export const guestReadyLine = 'sallyport guest ready';

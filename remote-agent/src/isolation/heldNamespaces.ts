import { closeSync, openSync } from 'node:fs';

/** Those that take the kernel longest to clear away: tables of a network, mounts one after the other. */
const slowKinds = ['net', 'mnt', 'ipc'];

/**
 * Keeps what of a sandbox is else cleared away in the moment in which its last process ends (namespaces(7)), so that
 * whoever waits for that end waits for that too. Nobody can enter it by this. Returns what lets go of it, for when nobody
 * waits any more; safe to call twice. Where there are no namespaces, nothing is kept.
 */
export function holdNamespaces(pid: number): () => void {
  const held = slowKinds.flatMap((kind) => {
    try {
      return [openSync(`/proc/${pid}/ns/${kind}`, 'r')];
    } catch {
      return [];
    }
  });
  return () => {
    for (const descriptor of held.splice(0)) closeSync(descriptor);
  };
}

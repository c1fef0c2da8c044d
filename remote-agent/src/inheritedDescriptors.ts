import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** O_CLOEXEC in the octal flags of /proc/self/fdinfo (proc(5)); the same on every architecture that Node has. */
const closeOnExec = 0o2000000;
/** O_ACCMODE and O_RDONLY. */
const accessMode = 0o3;
const readOnly = 0;

/**
 * Closes every descriptor beyond the three standard ones that would pass to a child. Node opens all of its own with
 * close-on-exec, so these are what whoever started this process left open: rights that no card may inherit.
 * Returns their numbers. Call before anything else; does nothing where there is no /proc.
 *
 * The exception are certificates, which OpenSSL opens without that flag and which Node reads on a thread of its own
 * while this runs (NODE_EXTRA_CA_CERTS of node(1)): a number that is closed under it may be another file a moment later.
 * `isTrusted` says of a path whether it is one of them; they are public.
 */
export function closeInheritedDescriptors(isTrusted: (path: string) => boolean = () => false): number[] {
  return listed('/proc/self/fdinfo')
    .filter((descriptor) => descriptor > 2 && isInherited(descriptor, isTrusted))
    .filter((descriptor) => {
      try {
        closeSync(descriptor);
        return true;
      } catch {
        return false;
      }
    });
}

function isInherited(descriptor: number, isTrusted: (path: string) => boolean): boolean {
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(text)?.[1] ?? '', 8);
    if (Number.isNaN(flags) || (flags & closeOnExec) !== 0) return false;
    if ((flags & accessMode) === readOnly && isTrusted(path)) return false;
    // What came and went meanwhile is that thread's.
    return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
  } catch {
    return false;
  }
}

function listed(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

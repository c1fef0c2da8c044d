import { closeSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import tls from 'node:tls';

/** O_CLOEXEC in the octal flags of /proc/self/fdinfo (proc(5)); the same on every architecture that Node has. */
const closeOnExec = 0o2000000;
/** O_ACCMODE and O_RDONLY. */
const accessMode = 0o3;
const readOnly = 0;

export interface ClosedDescriptors {
  /** Their numbers. */
  readonly closed: readonly number[];
  /**
   * Waits until Node has read its certificates, and closes those descriptors on certificates that were open before and
   * still are: they were inherited too. Returns their numbers. Call before a child is started that must inherit nothing.
   */
  readonly closeRest: () => readonly number[];
}

/**
 * Closes every descriptor beyond the three standard ones that would pass to a child. Node opens all of its own with
 * close-on-exec, so these are what whoever started this process left open: rights that no card may inherit.
 * Call before anything else; does nothing where there is no /proc.
 *
 * The exception are certificates, which OpenSSL opens without that flag and which Node reads on a thread of its own
 * while this runs (NODE_EXTRA_CA_CERTS of node(1)): a number that is closed under it may be another file a moment later.
 * `isTrusted` says of a path whether it is one of them. They may be inherited as well, from a Node that was reading them
 * when it started this one: `closeRest` tells the two apart.
 */
export function closeInheritedDescriptors(
  isTrusted: (path: string) => boolean = () => false,
  waitForCertificates: () => void = readCertificates,
): ClosedDescriptors {
  const inherited = listed('/proc/self/fdinfo').flatMap(inheritedAt);
  const isKept = ({ isReadOnly, path }: Inherited) => isReadOnly && isTrusted(path);
  return {
    closed: closeAll(inherited.filter((each) => !isKept(each))),
    closeRest: () => {
      waitForCertificates();
      return closeAll(inherited.filter(isKept));
    },
  };
}

interface Inherited {
  readonly descriptor: number;
  readonly path: string;
  readonly isReadOnly: boolean;
}

/** Empty where it would not pass to a child. */
function inheritedAt(descriptor: number): Inherited[] {
  if (!(descriptor > 2)) return [];
  try {
    const path = readlinkSync(`/proc/self/fd/${descriptor}`);
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = Number.parseInt(/^flags:\s+([0-7]+)$/m.exec(text)?.[1] ?? '', 8);
    if (Number.isNaN(flags) || (flags & closeOnExec) !== 0) return [];
    return [{ descriptor, path, isReadOnly: (flags & accessMode) === readOnly }];
  } catch {
    return [];
  }
}

/** Closes those that are still what they were: what came and went meanwhile is that thread's. */
function closeAll(inherited: readonly Inherited[]): number[] {
  return inherited.flatMap(({ descriptor, path }) => {
    try {
      if (inheritedAt(descriptor)[0]?.path !== path) return [];
      closeSync(descriptor);
      return [descriptor];
    } catch {
      return [];
    }
  });
}

/** Asking for them waits for the thread. A Node that can't be asked (before 22.15) reads them on no other thread. */
function readCertificates(): void {
  const { getCACertificates } = tls as { getCACertificates?: (type: 'default') => unknown };
  getCACertificates?.('default');
}

function listed(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

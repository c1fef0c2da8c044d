import {
  profileString,
  seatbeltProfile,
  systemFolders,
} from '../../../../remote-agent/src/isolation/seatbelt.ts';

export interface SealedVfkitOptions {
  /** Absolute. */
  readonly program: string;
  readonly args: readonly string[];
  /** Real paths. */
  readonly image: string;
  /** The folder of the VM and the one of its sockets. */
  readonly own: readonly string[];
  /** Folders of this machine that the VM is shown for writing. */
  readonly shares: readonly string[];
}

/**
 * The words that start vfkit in a sandbox of macOS (sandbox-exec(1)): the system and the image for reading, the VM's own
 * folders for writing, no network. The VM itself runs in a service of the system that is sandboxed by Apple; the one
 * service that may be looked up is that.
 */
export function sealedVfkit({ program, args, image, own, shares }: SealedVfkitOptions): string[] {
  const profile = seatbeltProfile({
    readable: [...systemFolders, program, image],
    writable: [...own, ...shares],
    network: 'none',
  });
  const below = (paths: readonly string[]) => paths.map((path) => `(subpath ${profileString(path)})`);
  const sockets = below(own).map((rule) => `(local unix-socket ${rule})`);
  const rules = [
    `(allow network-bind network-inbound ${sockets.join(' ')})`,
    `(allow file-issue-extension ${below([image, ...own, ...shares]).join(' ')})`,
    '(allow mach-lookup (xpc-service-name "com.apple.Virtualization.VirtualMachine"))',
    '',
  ];
  return ['/usr/bin/sandbox-exec', '-p', profile + rules.join('\n'), program, ...args];
}

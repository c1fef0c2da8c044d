import type { Accelerator } from './qemuArguments.ts';

/** Where QEMU finds things inside its own sandbox. */
export const sealedPaths = { image: '/image', machine: '/machine' } as const;

/**
 * The argument list that starts QEMU in bubblewrap: a guest that breaks out of QEMU finds the system's programs, its
 * image for reading and its own folder, no other process and no right, and no network but where the VM has one.
 */
export function sealedQemu(options: {
  readonly program: string;
  readonly args: readonly string[];
  readonly image: string;
  readonly machine: string;
  readonly accelerator: Accelerator;
  /** True for a VM that must not outlive who started it. */
  readonly endsWithEngine: boolean;
  /** Leaves QEMU this machine's network, for the VM to have one. */
  readonly network: boolean;
  /** The links of this machine's root into /usr: `['/lib', 'usr/lib']`. */
  readonly links: readonly (readonly [string, string])[];
}): string[] {
  return [
    ...['--unshare-all', '--new-session', '--cap-drop', 'ALL'],
    ...(options.endsWithEngine ? ['--die-with-parent'] : []),
    ...(options.network ? ['--share-net', ...bindResolver] : []),
    ...['--ro-bind', '/usr', '/usr'],
    ...options.links.flatMap(([path, to]) => ['--symlink', to, path]),
    ...['--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp'],
    ...(options.accelerator === 'kvm' ? ['--dev-bind', '/dev/kvm', '/dev/kvm'] : []),
    ...['--ro-bind', options.image, sealedPaths.image],
    ...['--bind', options.machine, sealedPaths.machine],
    ...['--chdir', sealedPaths.machine, '--'],
    ...[options.program, ...options.args],
  ];
}

/** QEMU passes the VM's questions for names on to the resolvers of this machine. */
const bindResolver = ['--ro-bind-try', '/etc/resolv.conf', '/etc/resolv.conf'];

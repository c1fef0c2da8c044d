import type { Accelerator } from './qemuArguments.ts';

/** Where QEMU finds things inside its own sandbox. */
export const sealedPaths = { image: '/image', machine: '/machine' } as const;

/**
 * The argument list that starts QEMU in bubblewrap: a guest that breaks out of QEMU finds the system's programs, its
 * image for reading and its own folder, and no network, no other process and no right.
 */
export function sealedQemu(options: {
  readonly program: string;
  readonly args: readonly string[];
  readonly image: string;
  readonly machine: string;
  readonly accelerator: Accelerator;
  /** The links of this machine's root into /usr: `['/lib', 'usr/lib']`. */
  readonly links: readonly (readonly [string, string])[];
}): string[] {
  return [
    ...['--unshare-all', '--new-session', '--cap-drop', 'ALL'],
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

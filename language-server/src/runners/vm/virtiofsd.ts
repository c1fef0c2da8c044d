import { guestShares } from '../../../../protocol/src/vmGuest.ts';

/**
 * The two programs of this name: QEMU's own, in C, up to QEMU 7.2, and the one in Rust that took its place
 * (docs/tools/virtiofsd.rst of QEMU 7.2, README of https://gitlab.com/virtio-fs/virtiofsd).
 */
export type VirtiofsdStyle = 'c' | 'rust';

export interface Virtiofsd {
  readonly program: string;
  readonly style: VirtiofsdStyle;
}

/** Where distributions put it, the one in Rust first. */
export const virtiofsdPrograms = [
  '/usr/libexec/virtiofsd',
  '/usr/lib/virtiofsd',
  '/usr/lib/qemu/virtiofsd',
] as const;

/**
 * Which of the two a program is, by the words of its help, which are in its bytes; undefined for what is neither. It is
 * not asked: the one in C won't even say its version to a user with groups (`keptGroupsFilter`).
 */
export function virtiofsdStyle(program: Buffer): VirtiofsdStyle | undefined {
  if (program.includes('shared-dir')) return 'rust';
  return program.includes('-o source=PATH') && program.includes('--fd=FDNUM') ? 'c' : undefined;
}

/** Where the folder lies in the sandbox of its server. */
const shared = '/share';
/** Standard input is the socket that it serves. */
const listening = 0;

/**
 * The argument list for serving one folder on the socket that is its standard input. File contents and names may be
 * cached in the VM, and are looked at anew: at each opening by the one in C, after a second by the one in Rust, which
 * can't be told. What the programs would seal themselves with is left to bubblewrap, which does more.
 */
export function virtiofsdArguments(style: VirtiofsdStyle): string[] {
  if (style === 'rust') {
    return [
      ...['--fd', String(listening), '--shared-dir', shared],
      ...['--sandbox', 'none', '--cache', 'auto', '--log-level', 'warn'],
    ];
  }
  return [
    ...[`--fd=${listening}`, '-o', `source=${shared}`, '-o', 'sandbox=chroot'],
    ...['-o', 'cache=auto', '-o', 'timeout=0', '-o', 'log_level=err'],
  ];
}

/**
 * What the one in C has to hold, in a user namespace with a single user in it: it drops all but these itself, and ends
 * where one is missing. Over files of other users they mean nothing (user_namespaces(7)).
 */
const cCapabilities = [
  'CAP_CHOWN',
  'CAP_DAC_OVERRIDE',
  'CAP_DAC_READ_SEARCH',
  'CAP_FOWNER',
  'CAP_FSETID',
  'CAP_MKNOD',
  'CAP_SETFCAP',
  'CAP_SETGID',
  'CAP_SETPCAP',
  'CAP_SETUID',
  'CAP_SYS_CHROOT',
];

/**
 * The argument list that starts it in bubblewrap: it sees the system's programs and the one folder, which is open
 * already, no network, no process, and of the users only its own, who is the user of shared folders to the VM.
 */
export function sealedVirtiofsd(options: {
  readonly virtiofsd: Virtiofsd;
  readonly write: boolean;
  /** Descriptor of the folder. */
  readonly folder: number;
  /** Descriptor of a compiled seccomp filter. */
  readonly filter: number;
  /** The links of this machine's root into /usr: `['/lib', 'usr/lib']`. */
  readonly links: readonly (readonly [string, string])[];
}): string[] {
  const { program, style } = options.virtiofsd;
  const { uid, gid } = guestShares.user;
  return [
    ...['--unshare-user', '--unshare-all', '--die-with-parent', '--new-session', '--clearenv'],
    ...['--uid', String(uid), '--gid', String(gid), '--cap-drop', 'ALL'],
    ...(style === 'c' ? cCapabilities.flatMap((name) => ['--cap-add', name]) : []),
    ...['--ro-bind', '/usr', '/usr'],
    ...options.links.flatMap(([path, to]) => ['--symlink', to, path]),
    ...['--dev', '/dev', '--proc', '/proc'],
    ...[options.write ? '--bind-fd' : '--ro-bind-fd', String(options.folder), shared],
    // The root too: nothing in there can be written but a folder that is shared for it.
    ...['--remount-ro', '/', '--seccomp', String(options.filter), '--'],
    ...[program, ...virtiofsdArguments(style)],
  ];
}

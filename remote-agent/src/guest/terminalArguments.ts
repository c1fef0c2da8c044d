import { guestPerson } from '../../../protocol/src/vmGuest.ts';

/** The descriptors that the programs of a terminal are started with. */
export const terminalDescriptors = { namespace: 3, gate: 4, stream: 5, filter: 6 } as const;

export interface TerminalPaths {
  /** Where host key and authorized key lie. */
  readonly keys: string;
  /** The folder of the runner, which is covered. */
  readonly runner: string;
  /** The folder that holds those of the jobs, shown as `/jobs`; undefined where there is none. */
  readonly jobs: string | undefined;
}

/**
 * The words that start a terminal's SSH server in bubblewrap. It is an ordinary user there, and so is all that it
 * starts: nothing of the machine can be written but a home and `/tmp` in memory, no device and no network can be
 * reached, and where the runner keeps its socket, its journal and its blobs there is nothing. The one capability, of a
 * user namespace of its own, is to read: folders of jobs are closed to everybody but their cards.
 *
 * Everything waits for a line at the gate, until the first process is under its limits.
 */
export function terminalArguments(paths: TerminalPaths): string[] {
  const { namespace, gate, stream, filter } = terminalDescriptors;
  const first = `read -r _ <&${gate} && exec ${gate}<&- && exec "$@" <&${stream} >&${stream} ${stream}<&-`;
  return [
    ...['/bin/sh', '-c', first, 'sh', '/usr/bin/bwrap'],
    ...['--userns', String(namespace), '--unshare-net', '--unshare-ipc', '--unshare-uts'],
    ...['--hostname', 'vm', '--cap-drop', 'ALL', '--cap-add', 'CAP_DAC_READ_SEARCH', '--die-with-parent'],
    ...['--ro-bind', '/', '/', '--dev', '/dev', ...memoryFolder('/dev/shm'), '--remount-ro', '/dev'],
    ...[...memoryFolder('/tmp'), ...memoryFolder('/home'), '--dir', guestPerson.home],
    // Sockets of the machine are in /run; of all that, only the keys are shown.
    ...['--size', '4096', '--tmpfs', '/run', '--ro-bind', paths.keys, paths.keys, '--remount-ro', '/run'],
    ...['--ro-bind', `${paths.keys}/authorized_keys`, `${guestPerson.home}/.ssh/authorized_keys`],
    ...['--size', '4096', '--tmpfs', paths.runner, '--remount-ro', paths.runner],
    ...(paths.jobs === undefined ? [] : ['--ro-bind', paths.jobs, '/jobs']),
    ...['--clearenv', ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', name, value])],
    ...['--seccomp', String(filter), '--'],
    ...server(paths.keys),
  ];
}

/** Dropbear (dropbear(8)) for one connection: no password, no root, no forwarding, no message of the day. */
function server(keys: string): string[] {
  return [
    '/usr/sbin/dropbear',
    '-i',
    '-e',
    '-m',
    '-s',
    '-w',
    '-j',
    '-k',
    '-r',
    `${keys}/host`,
    ...['-W', windowBytes],
  ];
}

const windowBytes = String(1024 * 1024);

/** What a session runs, whatever it asks for. */
export const terminalShell = `exec /bin/bash --rcfile ${guestPerson.start}`;

const environment = { PATH: '/usr/bin:/usr/sbin', LANG: 'C.UTF-8' } as const;

const memoryBytes = 64 * 1024 * 1024;

function memoryFolder(path: string): string[] {
  return ['--size', String(memoryBytes), '--tmpfs', path];
}

import { realpathSync } from 'node:fs';
import type { Environment } from '../environment.ts';
import type { RunnerFolder } from '../runnerFolder.ts';
import { sandboxIdentity } from './bubblewrap.ts';
import type { Mount, SandboxPlace } from './bubblewrapSandboxes.ts';
import { sandboxOwner } from './identity.ts';
import { seccompFilter, type SocketProfile } from './seccomp.ts';
import type { Architecture } from './syscalls.ts';

/** Ubuntu grants user namespaces to this path alone, and nothing of a workspace or of PATH can stand in for it. */
export const bubblewrapProgram = '/usr/bin/bwrap';

/** Where a Node of the runner's own is shown. */
export const ownNodeTarget = '/opt/node';

/** Where cards find the helper modules. */
const helpersTarget = '/sallyport';

/** Names and numbers of users and hosts: a card learns nothing of this machine's. */
const ownFiles: Readonly<Record<string, string>> = {
  '/etc/passwd': `card:x:${sandboxIdentity.uid}:${sandboxIdentity.gid}:card:/home/card:/bin/sh\n`,
  '/etc/group': `card:x:${sandboxIdentity.gid}:\n`,
  '/etc/hosts': `127.0.0.1 localhost ${sandboxIdentity.hostName}\n::1 localhost\n`,
};

/** Files that programs under /usr refer to: the linker's cache and Debian's links between alternatives. */
const systemFiles = ['/etc/ld.so.cache', '/etc/alternatives'];
/** Shown to cards with any network. */
const certificateFiles = [
  '/etc/ssl/certs',
  '/etc/ssl/openssl.cnf',
  '/etc/pki/ca-trust',
  '/etc/pki/tls/certs',
];
/** Shown to cards with the whole network: the others have no one to ask for an address but the egress proxy. */
const nameFiles = ['/etc/resolv.conf', '/etc/nsswitch.conf', '/etc/gai.conf'];

const cardEnvironment: Readonly<Record<string, string>> = {
  PATH: '/usr/local/bin:/usr/bin:/bin',
  HOME: '/home/card',
  TMPDIR: '/tmp',
  USER: 'card',
  LANG: 'C.UTF-8',
  PYTHONPATH: `${helpersTarget}/python`,
  PYTHONUNBUFFERED: '1',
  NODE_PATH: `${helpersTarget}/node`,
  SALLYPORT_CARD: '/card',
  SALLYPORT_INPUTS: '/in',
  SALLYPORT_OUTPUTS: '/out',
  SALLYPORT_PROGRESS: '3',
};

/** Starts a program without address space layout randomisation (personality(2), ADDR_NO_RANDOMIZE). */
const withFixedAddresses = ['/usr/bin/busybox', 'linux64', '-R'];

export interface PlaceOptions {
  readonly environment: Environment;
  readonly folder: RunnerFolder;
  /** Helper modules by path: `python/…`, `node/…`. */
  readonly helpers: Readonly<Record<string, string>>;
  /** A Node to show as `ownNodeTarget`, where the system has none of its own. */
  readonly nodePath?: string | undefined;
  /**
   * True in a VM whose every instruction is translated: everything in a sandbox, from its shell on, is at the same
   * addresses at each start, so that what was translated before serves again. Bubblewrap itself is not.
   */
  readonly fixedAddresses?: boolean | undefined;
  /** Only a test names another program, to see that it is refused. */
  readonly program?: string;
}

/** Writes what sandboxes are made from into the runner's folder. Throws for an architecture without a
 * filter and for a root that can't be anybody else. */
export function createPlace(options: PlaceOptions): SandboxPlace {
  const { environment, folder, helpers, nodePath, fixedAddresses = false } = options;
  const architecture = toArchitecture(environment.architecture);
  const owner = (turn: number) => sandboxOwner(environment.uid, environment.uidMap, turn);
  owner(0);
  const filter = (profile: SocketProfile) =>
    folder.write(
      `seccomp/${profile}`,
      seccompFilter(architecture, profile, { mayFixAddresses: fixedAddresses }),
    );
  const show = (path: string, target = path): Mount => ({ path: realpathSync(path), target, write: false });
  const shown = (paths: readonly string[]) => paths.filter(environment.hasFile).map((path) => show(path));
  for (const [path, text] of Object.entries(helpers)) folder.write(`helpers/${path}`, text);
  const always = [
    ...shown(systemFiles),
    ...Object.entries(ownFiles).map(([target, text]) => show(folder.write(target.slice(1), text), target)),
    ...(Object.keys(helpers).length > 0 ? [show(`${folder.path}/helpers`, helpersTarget)] : []),
    ...(nodePath === undefined ? [] : [show(nodePath, ownNodeTarget)]),
  ];
  const certificates = shown(certificateFiles);
  return {
    program: options.program ?? bubblewrapProgram,
    system: environment.system,
    shell: [...(fixedAddresses ? withFixedAddresses : []), '/bin/sh', '-s'],
    mounts: {
      none: always,
      bridge: [...always, ...certificates],
      all: [...always, ...certificates, ...shown(nameFiles)],
    },
    // An import statement of Node looks for packages in the folders above the card, not along NODE_PATH.
    links: { '/node_modules': `${helpersTarget}/node` },
    filters: {
      local: filter('local'),
      bridge: filter('bridge'),
      ip: filter('ip'),
      closed: filter('closed'),
    },
    environment: cardEnvironment,
    owner,
  };
}

/** Throws for an architecture that there is no filter for. */
export function toArchitecture(value: string): Architecture {
  if (value === 'x64' || value === 'arm64') return value;
  throw new Error(`There is no system call filter for the architecture ${value}`);
}

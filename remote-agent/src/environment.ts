import { existsSync, lstatSync, readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { release } from 'node:os';
import type { SystemEntry } from './isolation/bubblewrap.ts';

/** What the runner knows of the machine and of itself. Read once at its start; nothing else reads the surroundings. */
export interface Environment {
  readonly platform: NodeJS.Platform;
  readonly architecture: string;
  readonly kernelRelease: string;
  readonly uid: number;
  /** Text of /proc/self/uid_map; empty where there is none. */
  readonly uidMap: string;
  readonly pid: number;
  /** The Node that runs the runner, and whether it is a plain one (Electron's can't run a card). */
  readonly nodePath: string;
  readonly nodeVersion: string;
  readonly isPlainNode: boolean;
  readonly system: readonly SystemEntry[];
  readonly hasFile: (path: string) => boolean;
  readonly realPath: (path: string) => string;
}

export function readEnvironment(): Environment {
  return {
    platform: process.platform,
    architecture: process.arch,
    kernelRelease: release(),
    uid: process.getuid?.() ?? -1,
    uidMap: textOf('/proc/self/uid_map'),
    pid: process.pid,
    nodePath: process.execPath,
    nodeVersion: process.version,
    isPlainNode: process.versions['electron'] === undefined,
    system: readSystem(['/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32']),
    hasFile: existsSync,
    realPath: (path) => realpathSync(path),
  };
}

/** What a runner that outlives its connection needs of the person's surroundings; no token, no agent's socket. */
export function handedOnEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string> {
  return Object.fromEntries(
    ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR'].flatMap((name) => {
      const value = variables[name];
      return value === undefined ? [] : [[name, value] as const];
    }),
  );
}

/** Says of a real path whether Node may read certificates from it (node(1), SSL_CERT_FILE of OpenSSL). */
export function readTrustPaths(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): (path: string) => boolean {
  const named = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'].flatMap((name) => {
    try {
      return variables[name] ? [realpathSync(variables[name])] : [];
    } catch {
      return [];
    }
  });
  const all = [...named, '/etc/ssl', '/etc/pki', '/usr/share/ca-certificates', '/usr/lib/ssl'];
  return (path) => all.some((each) => path === each || path.startsWith(`${each}/`));
}

/** The folder that a person named for a cluster on its login node, where they named one. */
export function chosenBatchFolder(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): string | undefined {
  return variables['SALLYPORT_SLURM_DIR'] || undefined;
}

/** Where clusters put Slurm when it is not on the PATH of a shell that is not a login shell. */
const slurmFolders = [
  '/opt/slurm/bin',
  '/opt/slurm/current/bin',
  '/usr/local/slurm/bin',
  '/usr/local/bin',
  '/cm/shared/apps/slurm/current/bin',
];

/** The person's own surroundings for Slurm's programs (SBATCH_ACCOUNT, SLURM_CONF), in which they are found and speak English. */
export function slurmEnvironment(
  variables: Readonly<Record<string, string | undefined>> = process.env,
): Record<string, string | undefined> {
  const path = [variables['PATH'] || '/usr/bin:/bin', ...slurmFolders].join(':');
  return { ...variables, PATH: path, LC_ALL: 'C' };
}

/** The top-level names beside /usr that programs need: links into /usr, or folders where the system never merged. */
function readSystem(paths: readonly string[]): SystemEntry[] {
  return paths.flatMap((path): SystemEntry[] => {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (!found) return [];
    if (found.isSymbolicLink()) return [{ kind: 'link', path, to: readlinkSync(path) }];
    return found.isDirectory() ? [{ kind: 'bind', path }] : [];
  });
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

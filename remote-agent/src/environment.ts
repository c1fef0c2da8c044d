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

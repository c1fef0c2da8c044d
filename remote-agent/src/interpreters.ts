import { basename } from 'node:path';
import type { Interpreter } from '../../protocol/src/runner.ts';
import type { Environment } from './environment.ts';
import { ownNodeTarget } from './isolation/place.ts';
import { runProgram } from './runProgram.ts';

/** An interpreter by its path inside the sandbox. */
export type Interpreters = Readonly<Partial<Record<Interpreter['runtime'], Interpreter>>>;

/** Where a sandbox has programs: /usr is the host's. Nothing is looked up through the runner's own PATH. */
export const programFolders = ['/usr/local/bin', '/usr/bin', '/bin'];

/**
 * Finds what runs `python`, `node` and `shell` cards. The system's own Node comes first; the one that runs the runner
 * stands in for it, unless it is Electron's.
 */
export async function findInterpreters(environment: Environment): Promise<Interpreters> {
  const find = (name: string) =>
    programFolders.map((folder) => `${folder}/${name}`).find((path) => environment.hasFile(path));
  const python = find('python3');
  const node = find('node');
  const [pythonVersion, nodeVersion] = await Promise.all([versionOf(python), versionOf(node)]);
  return {
    ...(python && pythonVersion && { python: { runtime: 'python', path: python, version: pythonVersion } }),
    ...(node && nodeVersion
      ? { node: { runtime: 'node', path: node, version: nodeVersion } }
      : environment.isPlainNode && {
          node: { runtime: 'node', path: ownNodeTarget, version: environment.nodeVersion.replace(/^v/, '') },
        }),
    ...(environment.hasFile('/bin/sh') && {
      shell: { runtime: 'shell', path: '/bin/sh', version: basename(environment.realPath('/bin/sh')) },
    }),
  };
}

/** What a person installs where an interpreter is missing. */
export function interpreterRemedy(runtime: Interpreter['runtime'], platform: NodeJS.Platform): string {
  const names = { python: 'Python 3', node: 'Node.js', shell: 'a POSIX shell' } as const;
  const packages = { python: 'python3', node: 'nodejs', shell: 'dash' } as const;
  return platform === 'linux'
    ? `Install ${names[runtime]} from your distribution (for example: sudo apt install ${packages[runtime]}). Only programs under /usr can be shown to a sealed card.`
    : `Install ${names[runtime]} for all users.`;
}

/** An interpreter may take this long to start in a VM that boots on a busy machine. */
const startMs = 30_000;

/** The version that a program prints, or undefined where it can't be run. */
async function versionOf(path: string | undefined): Promise<string | undefined> {
  const text = path === undefined ? undefined : await runProgram(path, ['--version'], startMs);
  return text === undefined ? undefined : /[0-9]+(?:\.[0-9]+)+/.exec(text)?.[0];
}

import { execFile, spawn, type ChildProcess } from 'node:child_process';
import { homedir, platform } from 'node:os';
import { dirname, join } from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import type { SshSurroundings } from './runners/ssh/sshConfig.ts';

/** The one place of the engine that reads its environment and starts a process. */

type Variables = Readonly<Record<string, string | undefined>>;

/**
 * The folder of Sallyport's state for the command line: SALLYPORT_HOME, else what the system's custom is
 * (XDG_STATE_HOME of the XDG Base Directory Specification on Linux).
 */
export function stateHome(
  variables: Variables = process.env,
  system: NodeJS.Platform = platform(),
  userFolder: string = homedir(),
): string {
  const chosen = variables['SALLYPORT_HOME'];
  if (chosen) return chosen;
  if (system === 'darwin') return join(userFolder, 'Library', 'Application Support', 'Sallyport');
  if (system === 'win32')
    return join(variables['LOCALAPPDATA'] ?? join(userFolder, 'AppData', 'Local'), 'Sallyport');
  const state = variables['XDG_STATE_HOME'];
  return join(state?.startsWith('/') ? state : join(userFolder, '.local', 'state'), 'sallyport');
}

/** True where colour may be written: a terminal, and no NO_COLOR (https://no-color.org). */
export function wantsColour(isTerminal: boolean, variables: Variables = process.env): boolean {
  return isTerminal && !variables['NO_COLOR'] && variables['TERM'] !== 'dumb';
}

/** What the runner needs of the person's environment; nothing else (no token, no agent socket, no NODE_OPTIONS). */
const handedOn = ['PATH', 'HOME', 'LANG', 'LC_ALL', 'TMPDIR', 'USER', 'XDG_RUNTIME_DIR', 'SystemRoot'];

/** The runner's environment, rebuilt from empty. In Electron the same program must be told to be Node. */
export function runnerEnvironment(
  variables: Variables = process.env,
  isElectron: boolean = process.versions['electron'] !== undefined,
): Record<string, string> {
  const kept = handedOn.flatMap((name) => {
    const value = variables[name];
    return value === undefined ? [] : [[name, value] as const];
  });
  return { ...Object.fromEntries(kept), ...(isElectron ? { ELECTRON_RUN_AS_NODE: '1' } : {}) };
}

/**
 * Starts the runner program. It gets a session of its own, so that Ctrl-C at a terminal reaches Sallyport alone, which
 * then ends the cards in order.
 */
export function spawnRunner(script: string): ChildProcess {
  return spawn(process.execPath, [script], {
    stdio: ['pipe', 'pipe', 'pipe'],
    env: runnerEnvironment(),
    cwd: dirname(script),
    detached: true,
    windowsHide: true,
  });
}

/**
 * Starts a search program. It gets no environment and no input. `folder` may be the `/proc` path of an open folder, so
 * that what is searched is what was opened.
 */
export function spawnSearch(program: string, args: readonly string[], folder: string): ChildProcess {
  return spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: {}, cwd: folder, windowsHide: true });
}

/** Starts a program of the system that Sallyport needs for building or running a VM, with a small environment. */
export function spawnSystemTool(program: string, args: readonly string[], folder: string): ChildProcess {
  return spawn(program, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { PATH: systemPath, LC_ALL: 'C.UTF-8', DEBIAN_FRONTEND: 'noninteractive' },
    cwd: folder,
    windowsHide: true,
  });
}

/** Starts the runner program as what keeps a worker, at the terminal of this process. */
export function spawnWorkerKeeper(script: string, words: readonly string[]): ChildProcess {
  return spawn(process.execPath, [script, 'worker', ...words], { stdio: 'inherit', windowsHide: true });
}

/**
 * Starts the program that is a VM. It has a session of its own and no pipe to this process, so that it outlives the
 * engine; descriptor 3 is the stored VM that it starts from, where there is one.
 */
export function spawnMachine(
  program: string,
  args: readonly string[],
  folder: string,
  files: { readonly output: number; readonly stored?: number | undefined },
): ChildProcess {
  const { output, stored } = files;
  return spawn(program, args, {
    stdio: ['ignore', output, output, ...(stored === undefined ? [] : [stored])],
    env: { PATH: systemPath },
    cwd: folder,
    detached: true,
  });
}

/**
 * Starts the program that serves a folder to a VM, with its socket as standard input. It has no pipe to this process,
 * and a root engine starts it as somebody else.
 */
export function spawnShare(
  program: string,
  args: readonly string[],
  files: {
    readonly socket: number;
    readonly output: number;
    readonly more: readonly number[];
    readonly owner: { readonly uid: number; readonly gid: number } | undefined;
  },
): ChildProcess {
  const { socket, output, more, owner } = files;
  return spawn(program, args, {
    stdio: [socket, output, output, ...more],
    env: { PATH: systemPath },
    cwd: '/',
    detached: true,
    ...owner,
  });
}

/** Administrators' programs are not on every person's path. */
const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

/** What a connection over SSH takes from the person's surroundings: OpenSSH's own reading of its files, and the agent. */
export function sshSurroundings(
  variables: Variables = process.env,
  userFolder: string = homedir(),
): SshSurroundings {
  return { runSsh, home: userFolder, agent: variables['SSH_AUTH_SOCK'] || undefined };
}

/** Runs the person's `ssh` with exactly these words and no input. Rejects with what it said. */
function runSsh(words: readonly string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile('ssh', words, { timeout: 30_000, maxBuffer: 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) resolve(stdout);
      else if (error.code === 'ENOENT') {
        reject(
          new UserError('not-found', 'There is no “ssh” program, which reads your SSH configuration', {
            remedy: 'Install the OpenSSH client (for example: sudo apt install openssh-client).',
          }),
        );
      } else reject(new Error(stderr.trim() || error.message));
    });
  });
}

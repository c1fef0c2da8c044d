import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ensureVscodeServer, serverArguments } from '../../scripts/vscodeServer.mjs';

export interface ServerOptions {
  /** False turns workspace trust off, true leaves it as a person has it. */
  readonly hasTrust: boolean;
  /** True lets a page start a test inside the extension host. */
  readonly isTestDriver: boolean;
  /** Added to the environment of the server and so of its extension hosts. */
  readonly env?: Readonly<Record<string, string>>;
}

/** VS Code's server on a free loopback port with a fresh data folder. */
export interface VscodeServer {
  readonly port: number;
  readonly url: string;
  readonly dataDir: string;
  /** Everything that the server has printed. */
  log(): string;
  /** Ends the server with all that it started and removes its data folder. */
  stop(): Promise<void>;
}

/** Starts the server and waits until it listens; fails after a minute. `vsix` is installed before. */
export async function startVscodeServer(options: ServerOptions, vsix?: string): Promise<VscodeServer> {
  const { main } = await ensureVscodeServer();
  const dataDir = await mkdtemp(join(tmpdir(), 'sallyport-vscode-'));
  if (vsix !== undefined) await installVsix(main, dataDir, vsix);
  const child = spawn(process.execPath, [main, ...serverArguments({ port: 0, dataDir, ...options })], {
    env: { ...process.env, ...options.env, VSCODE_IPC_HOOK_CLI: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  live.add(child);
  let log = '';
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`VS Code's server did not listen:\n${log}`)), 60_000);
    const hear = (chunk: Buffer) => {
      log = (log + chunk.toString()).slice(-200_000);
      const match = /Extension host agent listening on (\d+)/.exec(log);
      if (match) {
        clearTimeout(timer);
        resolve(Number(match[1]));
      }
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', (code) => {
      clearTimeout(timer);
      reject(new Error(`VS Code's server ended with ${code ?? 'a signal'}:\n${log}`));
    });
  });
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    dataDir,
    log: () => log,
    stop: async () => {
      await stopGroup(child);
      await rm(dataDir, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
    },
  };
}

async function installVsix(main: string, dataDir: string, vsix: string): Promise<void> {
  const child = spawn(process.execPath, [main, '--install-extension', vsix, '--server-data-dir', dataDir], {
    env: { ...process.env, VSCODE_IPC_HOOK_CLI: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const [code] = (await once(child, 'close')) as [number | null];
  if (code !== 0 || !output.includes('was successfully installed'))
    throw new Error(`Failed to install ${vsix}:\n${output}`);
}

/** Servers that a test run has not stopped yet end with it. */
const live = new Set<ChildProcess>();
process.once('exit', () => {
  for (const { pid } of live) if (pid !== undefined) killGroup(pid, 'SIGKILL');
});

function killGroup(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(-pid, signal);
  } catch {
    // It is gone already.
  }
}

/** The server leads a process group of its own: extension hosts and what they started go with it. */
async function stopGroup(child: ChildProcess): Promise<void> {
  live.delete(child);
  const { pid } = child;
  if (pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  killGroup(pid, 'SIGTERM');
  const timer = setTimeout(() => killGroup(pid, 'SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
  killGroup(pid, 'SIGKILL');
}

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

/** The server leads a process group of its own: extension hosts and what they started go with it. */
async function stopGroup(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, 'exit');
  process.kill(-child.pid, 'SIGTERM');
  const timer = setTimeout(() => child.pid !== undefined && process.kill(-child.pid, 'SIGKILL'), 5000);
  await gone;
  clearTimeout(timer);
}

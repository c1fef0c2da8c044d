import { execFileSync, spawn, spawnSync, type StdioOptions } from 'node:child_process';
import { closeSync, openSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { openSshTransport } from '../../language-server/src/runners/ssh/openSshTransport.ts';
import type { RemoteLink } from '../../language-server/src/runners/places/remoteLink.ts';
import type { RunnerTransport } from '../../language-server/src/runners/places/runnerTransport.ts';
import { createBlobStore, type BlobStore, type StoredBlob } from '../../remote-agent/src/files/blobStore.ts';
import { openRemoteLink } from '../support/openRemoteLink.ts';
import { bundledRunner } from '../support/bundledRunner.ts';
import type { SshHost } from '../support/sshHost.ts';
import { FakePerson, sshAround, sshParts } from '../support/sshPlace.ts';

export const never = new AbortController().signal;

/** The same host for Sallyport and for OpenSSH, from one configuration. */
export function partsFor(folder: string, host: SshHost) {
  return sshParts({ folder: join(folder, 'here'), config: host.configBlock('lab'), known: host.knownLine() });
}

/** SSH as it is built for the engine: ssh2's keys are made ready once only there (scripts/build.mjs). */
export async function builtTransport(folder: string, host: SshHost, dist: string): Promise<RunnerTransport> {
  const name = readdirSync(dist).find((each) => each.startsWith('engine-openSshTransport')) ?? '';
  const built = (await import(join(dist, name))) as Built;
  const { around, ownKnownHosts } = sshAround({
    folder: join(folder, 'here'),
    config: host.configBlock('lab'),
    known: host.knownLine(),
  });
  const person = new FakePerson();
  const program = bundledRunner();
  return built.openSshTransport({
    place: 'ssh:lab',
    host: 'lab',
    person,
    trustFile: ownKnownHosts,
    around,
    program,
  });
}

interface Built {
  readonly openSshTransport: typeof openSshTransport;
}

/** A connection to the runner of the host that copies from and to the folder of blobs. */
export async function openLink(transport: RunnerTransport, blobs: string): Promise<RemoteLink> {
  const link = await transport.open({ signal: never, mayAsk: false, onStep: () => undefined });
  return openRemoteLink(link, createBlobStore(blobs));
}

export async function put(store: BlobStore, file: string): Promise<StoredBlob> {
  const descriptor = openSync(file, 'r');
  try {
    return await store.putFile(descriptor);
  } finally {
    closeSync(descriptor);
  }
}

export interface OpenSsh {
  /** Runs a command there, its input from one file here and its output to another. */
  run(command: string, files?: { readonly input?: string; readonly output?: string }): Promise<void>;
  /** Copies a file with `scp`; names over there begin with `lab:`. */
  scp(from: string, to: string): Promise<void>;
  /** The words of a command line that runs something there over the same connection. */
  readonly words: readonly string[];
  /** The process that owns the connection, once something was run. */
  owner(): number;
  close(): void;
}

/** OpenSSH over one connection that stays open, with the cipher that ours uses. */
export function openSsh(folder: string, host: SshHost): OpenSsh {
  const control = join(folder, 'control');
  const options = [
    ['-F', join(folder, 'here/config')],
    ['-o', `ControlPath=${control}`],
    ['-o', 'ControlMaster=auto'],
    ['-o', 'ControlPersist=60'],
    ['-o', 'Ciphers=aes128-gcm@openssh.com'],
    ['-o', 'BatchMode=yes'],
  ].flat();
  partsFor(folder, host);
  return {
    words: ['ssh', ...options, 'lab'],
    run: async (command, { input, output } = {}) => {
      const from = input === undefined ? undefined : openSync(input, 'r');
      const to = output === undefined ? undefined : openSync(output, 'w');
      try {
        await runToEnd('ssh', [...options, 'lab', command], [from ?? 'ignore', to ?? 'ignore', 'ignore']);
      } finally {
        for (const descriptor of [from, to]) if (descriptor !== undefined) closeSync(descriptor);
      }
    },
    scp: (from, to) => runToEnd('scp', ['-q', ...options, from, to], 'ignore'),
    owner: () => {
      const { stderr } = spawnSync('ssh', [...options, '-O', 'check', 'lab'], { encoding: 'utf8' });
      return Number(/pid=([0-9]+)/.exec(stderr)?.[1]);
    },
    close: () => {
      try {
        execFileSync('ssh', [...options, '-O', 'exit', 'lab'], { stdio: 'ignore' });
      } catch {
        // It has ended.
      }
    },
  };
}

function runToEnd(program: string, words: readonly string[], stdio: StdioOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { stdio });
    child.once('error', reject);
    child.once('close', (exitCode) => {
      if (exitCode === 0) resolve();
      else reject(new Error(`${program} ended with ${exitCode ?? 'a signal'}`));
    });
  });
}

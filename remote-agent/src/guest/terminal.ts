import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, closeSync, mkdirSync, openSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Duplex, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { guestPerson } from '../../../protocol/src/vmGuest.ts';
import { seccompFilter } from '../isolation/seccomp.ts';
import type { Architecture } from '../isolation/syscalls.ts';
import { rootScratch } from '../runnerFolder.ts';
import { openPersonNamespace } from './personNamespace.ts';
import { terminalArguments, terminalDescriptors, terminalShell } from './terminalArguments.ts';
import { openTerminalGroup } from './terminalGroup.ts';
import { authorizedKey, createHostKey } from './terminalKeys.ts';

export interface TerminalOptions {
  /** The folder of the runner, which nobody in a terminal sees. */
  readonly runner: string;
  readonly architecture: Architecture;
  readonly report: (text: string) => void;
}

/** The terminals of a VM: one SSH server at a time, for whom it was offered, with any number of shells. */
export class GuestTerminal {
  readonly #options: TerminalOptions;
  #offered = false;
  #turn: Promise<void> = Promise.resolve();

  constructor(options: TerminalOptions) {
    this.#options = options;
  }

  /** Readies the next use for the holder of a key, in place of an offer before that was not taken. Returns the host's key. */
  offer(clientKey: string): string {
    const host = createHostKey();
    rmSync(keysFolder, { recursive: true, force: true });
    mkdirSync(keysFolder, { mode: 0o700 });
    const write = (name: string, content: string | Uint8Array) => {
      const path = join(keysFolder, name);
      writeFileSync(path, content, { mode: 0o600 });
      chownSync(path, guestPerson.id, guestPerson.id);
    };
    write('host', host.file);
    write('authorized_keys', authorizedKey(clientKey, terminalShell));
    chownSync(keysFolder, guestPerson.id, guestPerson.id);
    this.#offered = true;
    return host.publicKey;
  }

  /** Serves one use of the port to its end, and ends everything that was started in it. Never rejects. */
  async serve(stream: Duplex): Promise<void> {
    const before = this.#turn;
    const served = before.then(() => this.#serve(stream));
    this.#turn = served.catch((error: unknown) =>
      this.#options.report(`a terminal failed: ${error instanceof Error ? error.message : String(error)}`),
    );
    await this.#turn;
    stream.destroy();
  }

  async #serve(stream: Duplex): Promise<void> {
    if (!this.#offered || stream.destroyed) return;
    this.#offered = false;
    const group = openTerminalGroup();
    const opened: number[] = [];
    try {
      const { architecture, runner } = this.#options;
      const filter = join(keysFolder, 'filter');
      writeFileSync(filter, seccompFilter(architecture, 'local'), { mode: 0o600 });
      opened.push(await openPersonNamespace(), openSync(filter, 'r'));
      const [namespace = -1, filterDescriptor = -1] = opened;
      const [program = '', ...words] = terminalArguments({ keys: keysFolder, runner, jobs: findJobs() });
      const { id } = guestPerson;
      const child = spawn(program, words, {
        stdio: ['ignore', 'ignore', 'ignore', namespace, 'pipe', 'pipe', filterDescriptor],
        uid: id,
        gid: id,
        env: {},
        cwd: '/',
      });
      const ended = once(child, 'exit');
      ended.catch(() => undefined);
      if (child.pid === undefined) throw new Error('its programs can’t be started');
      group.add(child.pid);
      const pipes: readonly unknown[] = child.stdio;
      const gate = pipes[terminalDescriptors.gate] as Writable;
      const server = pipes[terminalDescriptors.stream] as Duplex;
      // Either end may go first, in the middle of anything.
      for (const each of [gate, server, stream]) each.on('error', () => undefined);
      gate.end('go\n');
      stream.pipe(server);
      await pipeline(server, stream).catch(() => undefined);
      child.kill('SIGKILL');
      await ended;
    } finally {
      for (const descriptor of opened) closeSync(descriptor);
      await group.end();
    }
  }
}

/** In memory; made anew for each use. */
const keysFolder = '/run/sallyport-terminal';

/** Where the runner of this VM, which is the only one, keeps the folders of its jobs. */
function findJobs(): string | undefined {
  const name = readdirSync(rootScratch).find((each) => each.startsWith('sallyport-runner-'));
  return name === undefined ? undefined : join(rootScratch, name, 'jobs');
}

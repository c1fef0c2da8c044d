import { UserError } from '../../../../protocol/src/errors.ts';
import { terminalTextUnits, type TerminalEnd } from '../../../../protocol/src/placeTerminal.ts';
import type { ChannelEnd, Shell, ShellSize } from '../ssh/sshConnection.ts';
import type { TerminalVm } from './terminalConnection.ts';
import { TerminalOutput } from './terminalOutput.ts';

/** What terminals need of a connection into a VM. */
export interface TerminalConnection {
  shell(size: ShellSize): Promise<Shell>;
  readonly closed: Promise<string>;
  close(): void;
}

export interface TerminalsOptions {
  /** Opens the one connection that all terminals of a VM share. */
  readonly connect: (vm: TerminalVm, signal: AbortSignal) => Promise<TerminalConnection>;
  readonly createId: () => string;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

interface Terminal {
  readonly shell: Shell;
  readonly output: TerminalOutput;
  end: ChannelEnd | undefined;
  /** Wakes whoever reads, where somebody does. */
  wake: (() => void) | undefined;
  /** Says that somebody has its id: it is not closed by itself any more. */
  readonly claim: () => void;
  /** Lets go of the connection. Safe to call twice. */
  readonly leave: () => void;
}

interface Shared {
  readonly connection: Promise<TerminalConnection>;
  /** Terminals that are open or being opened. */
  users: number;
}

/**
 * The terminals that a person has open in VMs. A VM's terminals are channels of one SSH connection, which is opened
 * with the first and closed with the last.
 */
export class Terminals {
  readonly #options: TerminalsOptions;
  readonly #terminals = new Map<string, Terminal>();
  readonly #connections = new Map<string, Shared>();
  readonly #stop = new AbortController();

  constructor(options: TerminalsOptions) {
    this.#options = options;
  }

  /** How many are open or being opened. */
  get count(): number {
    return [...this.#connections.values()].reduce((sum, { users }) => sum + users, 0);
  }

  /**
   * Opens a terminal and returns its id. One that nobody has read from two minutes later is closed: its id has reached
   * nobody who could close it. Throws `conflict`, `closed`, and as connecting does.
   */
  async open(vm: TerminalVm, size: ShellSize, signal: AbortSignal): Promise<string> {
    if (this.#stop.signal.aborted) throw new UserError('closed', 'The engine is ending');
    if (this.count >= mostTerminals)
      throw new UserError('conflict', `${mostTerminals} terminals are open in VMs already. Close one first.`);
    const key = JSON.stringify([vm.network, vm.project]);
    const shared = this.#share(key, vm);
    let shell: Shell;
    try {
      shell = await (await unlessAborted(shared.connection, signal)).shell(size);
    } catch (error) {
      this.#leave(key, shared);
      throw error;
    }
    let isHere = true;
    const id = this.#options.createId();
    const terminal: Terminal = {
      shell,
      output: new TerminalOutput(),
      end: undefined,
      wake: undefined,
      claim: this.#options.setTimer(() => this.close(id), unclaimedMs),
      leave: () => {
        if (isHere) this.#leave(key, shared);
        isHere = false;
      },
    };
    shell.stream.on('readable', () => terminal.wake?.());
    void shell.ended.then((end) => {
      terminal.end = end;
      terminal.wake?.();
      terminal.leave();
    });
    this.#terminals.set(id, terminal);
    if (!AbortSignal.any([signal, this.#stop.signal]).aborted) return id;
    this.close(id);
    throw new UserError('cancelled', 'Opening a terminal was cancelled');
  }

  /** What came since the last read; waits where there is nothing. Throws `not-found`, `conflict`, `cancelled`. */
  async read(id: string, signal: AbortSignal): Promise<{ text: string; end: TerminalEnd | null }> {
    const terminal = this.#get(id);
    terminal.claim();
    if (terminal.wake) throw new UserError('conflict', 'This terminal is being read already');
    const wake = () => terminal.wake?.();
    signal.addEventListener('abort', wake, { once: true });
    try {
      for (;;) {
        const change = new Promise<void>((resolve) => (terminal.wake = resolve));
        if (signal.aborted) throw new UserError('cancelled', 'Nobody waits for this terminal any more');
        this.#get(id);
        const { shell, output, end } = terminal;
        const bytes = shell.stream.read(
          Math.min(shell.stream.readableLength, terminalTextUnits),
        ) as Buffer | null;
        const text = bytes ? output.push(bytes) : '';
        if (text !== '') return { text, end: null };
        if (bytes) continue;
        if (end) {
          this.#terminals.delete(id);
          return { text: '', end: { code: end.code ?? null, signal: end.signal ?? null } };
        }
        await change;
      }
    } finally {
      terminal.wake = undefined;
      signal.removeEventListener('abort', wake);
    }
  }

  /** Settles when there is room for more. What is written after the end is dropped. */
  async write(id: string, text: string): Promise<void> {
    const { shell } = this.#get(id);
    const { stream } = shell;
    if (!stream.writable || stream.write(text)) return;
    await new Promise<void>((resolve) => {
      const done = () => {
        stream.off('drain', done).off('close', done);
        resolve();
      };
      stream.on('drain', done).on('close', done);
    });
  }

  resize(id: string, size: ShellSize): void {
    const { shell, end } = this.#get(id);
    if (!end) shell.resize(size);
  }

  close(id: string): void {
    const terminal = this.#terminals.get(id);
    this.#terminals.delete(id);
    terminal?.claim();
    terminal?.shell.stream.destroy();
    // The other end may say that it has ended only when the last of what was started there has.
    terminal?.leave();
    terminal?.wake?.();
  }

  dispose(): void {
    this.#stop.abort();
    for (const id of [...this.#terminals.keys()]) this.close(id);
  }

  #share(key: string, vm: TerminalVm): Shared {
    const known = this.#connections.get(key);
    if (known) {
      known.users += 1;
      return known;
    }
    const connection = this.#options.connect(vm, this.#stop.signal);
    const shared: Shared = { connection, users: 1 };
    this.#connections.set(key, shared);
    const forget = () => {
      if (this.#connections.get(key) === shared) this.#connections.delete(key);
    };
    connection.then(({ closed }) => closed.then(forget), forget);
    return shared;
  }

  #leave(key: string, shared: Shared): void {
    shared.users -= 1;
    if (shared.users > 0) return;
    if (this.#connections.get(key) === shared) this.#connections.delete(key);
    shared.connection.then((connection) => connection.close()).catch(() => undefined);
  }

  #get(id: string): Terminal {
    const terminal = this.#terminals.get(id);
    if (!terminal) throw new UserError('not-found', 'This terminal has ended');
    return terminal;
  }
}

const mostTerminals = 32;
/** Whoever shows a terminal reads from it at once. */
const unclaimedMs = 2 * 60_000;

function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const give = () => reject(new UserError('cancelled', 'Opening a terminal was cancelled'));
    if (signal.aborted) give();
    signal.addEventListener('abort', give, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', give));
  });
}

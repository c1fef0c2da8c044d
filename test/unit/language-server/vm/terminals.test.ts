import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import type {
  ChannelEnd,
  Shell,
  ShellSize,
} from '../../../../language-server/src/runners/ssh/sshConnection.ts';
import { Terminals, type TerminalConnection } from '../../../../language-server/src/runners/vm/terminals.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;
const size = { columns: 80, rows: 24 };
const a = { project: 'a', network: false };
const b = { project: 'b', network: false };

class FakeShell implements Shell {
  readonly stream: Duplex;
  readonly sizes: ShellSize[] = [];
  readonly written: string[] = [];
  readonly #end = Promise.withResolvers<ChannelEnd>();
  readonly ended = this.#end.promise;
  taken: (() => void)[] = [];

  constructor() {
    this.stream = new Duplex({
      highWaterMark: 16,
      read: () => undefined,
      write: (chunk: Buffer, _encoding, done) => {
        this.written.push(chunk.toString());
        this.taken.push(done);
      },
      destroy: (_error, done) => {
        this.finish({ code: undefined, signal: undefined });
        done(null);
      },
    });
  }

  resize(to: ShellSize): void {
    this.sizes.push(to);
  }

  say(text: string): void {
    this.stream.push(Buffer.from(text));
  }

  finish(end: ChannelEnd): void {
    this.#end.resolve(end);
  }
}

class FakeConnection implements TerminalConnection {
  readonly shells: FakeShell[] = [];
  readonly #closed = Promise.withResolvers<string>();
  readonly closed = this.#closed.promise;
  isClosed = false;

  shell(): Promise<Shell> {
    const shell = new FakeShell();
    this.shells.push(shell);
    return Promise.resolve(shell);
  }

  close(): void {
    this.isClosed = true;
    this.#closed.resolve('closed');
  }
}

describe('terminals in VMs', () => {
  let connections: FakeConnection[] = [];
  let terminals: Terminals;
  let ids = 0;
  /** What would run later, with after how long. */
  let timers: { readonly run: () => void; readonly ms: number }[] = [];
  const setTimer = (run: () => void, ms: number) => {
    const timer = { run, ms };
    timers.push(timer);
    return () => void (timers = timers.filter((each) => each !== timer));
  };

  beforeEach(() => {
    connections = [];
    timers = [];
    terminals = new Terminals({
      connect: () => {
        connections.push(new FakeConnection());
        return Promise.resolve(connections.at(-1) ?? assert.fail());
      },
      createId: () => String((ids += 1)),
      setTimer,
    });
  });
  afterEach(() => terminals.dispose());

  const shellOf = (connection = 0, shell = 0) => connections[connection]?.shells[shell] ?? assert.fail();

  it('[VM-24] gives terminals of a VM one connection, and those of another VM another', async () => {
    const [one, two] = await Promise.all([terminals.open(a, size, never), terminals.open(a, size, never)]);
    await terminals.open(b, size, never);
    assert.equal(connections.length, 2);
    terminals.close(one);
    assert.equal(connections[0]?.isClosed, false);
    terminals.close(two);
    await until(() => connections[0]?.isClosed === true);
    assert.equal(connections[1]?.isClosed, false);
    assert.equal(terminals.count, 1);
    await terminals.open(a, size, never);
    await terminals.open({ ...b, network: true }, size, never);
    assert.equal(connections.length, 4);
  });

  it('gives output to whoever reads, then the end, and nothing after', async () => {
    const id = await terminals.open(a, size, never);
    const shell = shellOf();
    const waiting = terminals.read(id, never);
    shell.say('hello');
    assert.deepEqual(await waiting, { text: 'hello', end: null });
    shell.say('last');
    shell.finish({ code: 3, signal: undefined });
    assert.deepEqual(await terminals.read(id, never), { text: 'last', end: null });
    assert.deepEqual(await terminals.read(id, never), { text: '', end: { code: 3, signal: null } });
    await assert.rejects(terminals.read(id, never), { code: 'not-found' });
    assert.equal(terminals.count, 0);
  });

  it('keeps a character whole that comes in pieces, and waits on where all was dropped', async () => {
    const id = await terminals.open(a, size, never);
    const bytes = Buffer.from('ü');
    const waiting = terminals.read(id, never);
    shellOf().stream.push(bytes.subarray(0, 1));
    shellOf().say('');
    setImmediate(() => shellOf().stream.push(bytes.subarray(1)));
    assert.equal((await waiting).text, 'ü');
  });

  it('lets one read at a time, and one that was given up loses nothing', async () => {
    const id = await terminals.open(a, size, never);
    const stop = new AbortController();
    const waiting = terminals.read(id, stop.signal);
    await assert.rejects(terminals.read(id, never), { code: 'conflict' });
    stop.abort();
    await assert.rejects(waiting, { code: 'cancelled' });
    shellOf().say('kept');
    assert.equal((await terminals.read(id, never)).text, 'kept');
  });

  it('settles a write when there is room again', async () => {
    const id = await terminals.open(a, size, never);
    let isTaken = false;
    const writing = terminals.write(id, 'x'.repeat(100)).then(() => (isTaken = true));
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(isTaken, false);
    shellOf().taken.shift()?.();
    await writing;
    terminals.resize(id, { columns: 1, rows: 2 });
    assert.deepEqual(shellOf().sizes, [{ columns: 1, rows: 2 }]);
  });

  it('is no longer in use after an opening that failed or was given up', async () => {
    const failing = new Terminals({
      connect: () => Promise.reject(new UserError('isolation-missing', 'no image')),
      createId: () => 'x',
      setTimer,
    });
    await assert.rejects(failing.open(a, size, never), { code: 'isolation-missing' });
    assert.equal(failing.count, 0);
    await assert.rejects(failing.open(a, size, never), { code: 'isolation-missing' });

    const late = Promise.withResolvers<TerminalConnection>();
    const slow = new Terminals({ connect: () => late.promise, createId: () => 'x', setTimer });
    const stop = new AbortController();
    const opening = slow.open(a, size, stop.signal);
    stop.abort();
    await assert.rejects(opening, { code: 'cancelled' });
    const connection = new FakeConnection();
    late.resolve(connection);
    await until(() => connection.isClosed);
    assert.equal(slow.count, 0);
  });

  it('[VM-24] closes one whose id has reached nobody, and none that was read from', async () => {
    const [lost, kept] = [await terminals.open(a, size, never), await terminals.open(a, size, never)];
    const reading = terminals.read(kept, never);
    assert.deepEqual(
      timers.map(({ ms }) => ms),
      [120_000],
    );
    for (const { run } of timers) run();
    await assert.rejects(terminals.read(lost, never), { code: 'not-found' });
    assert.ok(shellOf(0, 0).stream.destroyed);
    assert.equal(terminals.count, 1);
    shellOf(0, 1).say('here');
    assert.equal((await reading).text, 'here');
    terminals.close(kept);
    // As soon as it is closed nothing waits for it.
    terminals.close(await terminals.open(a, size, never));
    assert.deepEqual(timers, []);
  });

  it('bounds how many are open', async () => {
    for (let count = 0; count < 32; count += 1) await terminals.open(a, size, never);
    await assert.rejects(terminals.open(b, size, never), { code: 'conflict' });
  });

  it('ends every read when the engine ends', async () => {
    const id = await terminals.open(a, size, never);
    const waiting = terminals.read(id, never);
    terminals.dispose();
    await assert.rejects(waiting, { code: 'not-found' });
    await assert.rejects(terminals.open(a, size, never), { code: 'closed' });
  });
});

import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import type { ReadStream, WriteStream } from 'node:tty';
import { parseArguments } from '../../../../language-server/src/cli/arguments.ts';
import { openScreen, type Screen } from '../../../../language-server/src/cli/screen.ts';
import type { Session } from '../../../../language-server/src/cli/session.ts';
import { vmCommand } from '../../../../language-server/src/cli/vmCommand.ts';
import { UserError } from '../../../../protocol/src/errors.ts';

describe('sallyport vm terminal', () => {
  function make(reads: unknown[], more: { screen?: boolean; words?: string[] } = {}) {
    const calls: { method: string; params: unknown }[] = [];
    const notes: string[] = [];
    let shown = '';
    let state = 'given back';
    let type: (text: string) => Promise<void> = () => Promise.resolve();
    const screen: Screen = {
      columns: 0,
      rows: 4000,
      takeOver: (onInput, onResize) => {
        state = 'taken';
        type = onInput;
        onResize();
        return () => void (state = 'given back');
      },
      write: (text) => {
        shown += text;
        return Promise.resolve();
      },
    };
    const session = {
      args: parseArguments(more.words ?? ['vm', 'terminal', 'weather']),
      terminal: {
        out: () => undefined,
        note: (line: string) => void notes.push(line),
        screen: more.screen === false ? undefined : screen,
      },
      root: '/weather',
      project: () => ({ manifest: { name: 'Weather\u001b[2J' } }),
      call: async (method: string, params: unknown) => {
        calls.push({ method, params });
        if (method === 'place/terminalOpen') return { terminal: 'id' };
        if (method !== 'place/terminalRead') return {};
        await type('k');
        const next = reads.shift();
        if (next instanceof Error) throw next;
        return next;
      },
    } as unknown as Session;
    return { session, calls, notes, shown: () => shown, state: () => state };
  }
  const asked = (calls: readonly { method: string; params: unknown }[], method: string) =>
    calls.filter((each) => each.method === method).map(({ params }) => params);

  it('[VM-24] passes keys, output, size and exit code on, and gives the terminal back', async () => {
    const { session, calls, notes, shown, state } = make([
      { text: 'hello', end: null },
      { text: '', end: { code: 9, signal: null } },
    ]);
    assert.equal(await vmCommand(session), 9);
    assert.equal(shown(), 'hello');
    assert.equal(state(), 'given back');
    assert.deepEqual(asked(calls, 'place/terminalOpen'), [
      { root: '/weather', network: false, columns: 80, rows: 1000 },
    ]);
    assert.deepEqual(asked(calls, 'place/terminalWrite')[0], { terminal: 'id', text: 'k' });
    assert.deepEqual(asked(calls, 'place/terminalResize'), [{ terminal: 'id', columns: 80, rows: 1000 }]);
    assert.equal(asked(calls, 'place/terminalClose').length, 1);
    assert.equal(notes.join().includes('\u001b'), false);
  });

  it('[VM-24] means the VM with a network where that was said', async () => {
    const { session, calls } = make([{ text: '', end: { code: 0, signal: null } }], {
      words: ['vm', 'terminal', 'weather', '--network'],
    });
    assert.equal(await vmCommand(session), 0);
    assert.deepEqual(asked(calls, 'place/terminalOpen'), [
      { root: '/weather', network: true, columns: 80, rows: 1000 },
    ]);
  });

  it('gives the terminal back when the connection is lost, and says so', async () => {
    for (const last of [{ text: '', end: { code: null, signal: null } }, new UserError('closed', 'gone')]) {
      const { session, state, calls } = make([last]);
      await assert.rejects(Promise.resolve(vmCommand(session)), { code: 'closed' });
      assert.equal(state(), 'given back');
      assert.equal(asked(calls, 'place/terminalClose').length, 1);
    }
  });

  it('ends as shells do where a signal ended the shell', async () => {
    const { session } = make([{ text: '', end: { code: null, signal: 'TERM' } }]);
    assert.equal(await vmCommand(session), 143);
  });

  it('needs a terminal at both ends, and says so', async () => {
    const { session, notes, calls } = make([], { screen: false });
    assert.equal(await vmCommand(session), 2);
    assert.match(notes.join(), /needs a terminal/);
    assert.deepEqual(calls, []);
  });

  for (const words of [
    ['vm', 'status', 'weather'],
    ['vm', 'terminal', 'weather', '--json'],
    ['vm', 'open'],
    ['vm', 'status', '--network'],
  ])
    it(`says how it is used for ${words.join(' ')}`, async () => {
      const { session } = make([], { words });
      await assert.rejects(async () => vmCommand(session), /Usage: sallyport vm/);
    });
});

describe('sallyport vm export and import', () => {
  const digest = 'd'.repeat(64);
  async function run(words: string[], isInstalled = false) {
    const out: string[] = [];
    const notes: string[] = [];
    const calls: { method: string; params: unknown }[] = [];
    const session = {
      args: parseArguments(['vm', ...words]),
      terminal: { out: (line: string) => void out.push(line), note: (line: string) => void notes.push(line) },
      on: () => undefined,
      call: (method: string, params: unknown) => {
        calls.push({ method, params });
        return Promise.resolve({ digest, sizeBytes: 1000, isInstalled, status: { image: null } });
      },
    } as unknown as Session;
    return { code: await vmCommand(session), out: out.join('\n'), notes: notes.join('\n'), calls };
  }

  it('[VM-33] say the digest, and what to type on the other computer', async () => {
    const { code, out, calls } = await run(['export', '/tmp/image.vm']);
    assert.equal(code, 0);
    assert.match(out, new RegExp(`sallyport vm import FILE --accept ${digest}`));
    assert.deepEqual(calls, [{ method: 'vm/export', params: { file: '/tmp/image.vm' } }]);
  });

  it('[VM-33] take in what was accepted, and else say what would be', async () => {
    const asked = await run(['import', '/tmp/image.vm']);
    assert.equal(asked.code, 3);
    assert.match(asked.out, new RegExp(`--accept ${digest}`));
    assert.deepEqual(asked.calls[0]?.params, { file: '/tmp/image.vm', accept: null });
    const other = await run(['import', '/tmp/image.vm', '--accept', 'other']);
    assert.equal(other.code, 3);
    assert.match(other.notes, /Nothing was changed/);
    const done = await run(['import', '/tmp/image.vm', '--accept', digest], true);
    assert.equal(done.code, 0);
    assert.match(done.out, /Took the image in/);
  });

  for (const words of [['export'], ['import'], ['build', 'x'], ['status', '--accept', 'x']])
    it(`say how they are used for ${words.join(' ')}`, async () => {
      await assert.rejects(run(words), /Usage: sallyport vm/);
    });
});

describe('the terminal of the command line', () => {
  class FakeInput extends EventEmitter {
    isRaw = false;
    isPaused = true;
    setRawMode(value: boolean) {
      this.isRaw = value;
    }
    setEncoding() {
      return this;
    }
    pause() {
      this.isPaused = true;
      return this;
    }
    resume() {
      this.isPaused = false;
      return this;
    }
  }

  it('is raw while it is taken over, waits until each key was taken, and is plain afterwards', async () => {
    const input = new FakeInput();
    let written = '';
    const output = Object.assign(new EventEmitter(), {
      columns: 80,
      rows: 24,
      write: (text: string, done?: () => void) => {
        written += text;
        done?.();
      },
    });
    const screen = openScreen(input as unknown as ReadStream, output as unknown as WriteStream);
    const keys: string[] = [];
    const taken = Promise.withResolvers<undefined>();
    let resized = 0;
    const giveBack = screen.takeOver(
      (text) => {
        keys.push(text);
        return taken.promise;
      },
      () => (resized += 1),
    );
    assert.deepEqual([input.isRaw, input.isPaused], [true, false]);
    input.emit('data', '\u0003');
    assert.deepEqual([keys, input.isPaused], [['\u0003'], true]);
    taken.resolve(undefined);
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(input.isPaused, false);
    output.emit('resize');
    await screen.write('x');
    giveBack();
    assert.deepEqual(
      [input.isRaw, input.isPaused, resized, screen.columns, screen.rows],
      [false, true, 1, 80, 24],
    );
    assert.match(written, /^x.*\[\?25h/s);
    assert.equal(input.listenerCount('data') + output.listenerCount('resize'), 0);
  });
});

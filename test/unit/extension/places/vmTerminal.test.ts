import assert from 'node:assert/strict';
import { VmTerminal } from '../../../../extension/src/places/vmTerminal.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { terminalTextUnits } from '../../../../protocol/src/placeTerminal.ts';
import { FakeEngine } from '../../../support/fakeEngine.ts';
import { until } from '../../../support/until.ts';

const terminal = 'a'.repeat(24);

describe('a terminal of VS Code in a VM', () => {
  function make(answers: Record<string, (params: never) => unknown> = {}) {
    const reads: PromiseWithResolvers<unknown>[] = [];
    const fake = new FakeEngine({
      'place/terminalRead': () => {
        const next = Promise.withResolvers<unknown>();
        reads.push(next);
        return next.promise;
      },
      'place/terminalWrite': () => ({}),
      'place/terminalResize': () => ({}),
      'place/terminalClose': () => ({}),
      ...answers,
    });
    const pty = new VmTerminal(fake.engine, terminal);
    let shown = '';
    const closed: (number | undefined)[] = [];
    pty.onDidWrite((text) => (shown += text));
    pty.onDidClose((code) => void closed.push(code));
    const read = async (count: number, value: unknown) => {
      await until(() => reads.length === count);
      reads[count - 1]?.resolve(value);
    };
    return { fake, pty, read, reads, closed, shown: () => shown };
  }

  it('[VM-24] shows what comes, one read after another, and ends with the shell’s exit code', async () => {
    const { fake, pty, read, reads, closed, shown } = make();
    pty.open({ columns: 100, rows: 30 });
    assert.match(shown(), /You are in the project’s VM/);
    await read(1, { text: '\u001b[1mhello', end: null });
    await read(2, { text: '', end: null });
    assert.equal(reads.length <= 3, true);
    await read(3, { text: '', end: { code: 7, signal: null } });
    await until(() => closed.length === 1);
    assert.deepEqual(closed, [7]);
    assert.ok(shown().endsWith('\u001b[1mhello'));
    assert.deepEqual(fake.asked('place/terminalResize'), [{ terminal, columns: 100, rows: 30 }]);
  });

  it('sends what is typed in order, one piece at a time, and gathers what comes meanwhile', async () => {
    const first = Promise.withResolvers<unknown>();
    let calls = 0;
    const { fake, pty } = make({ 'place/terminalWrite': () => ((calls += 1) === 1 ? first.promise : {}) });
    pty.open(undefined);
    for (const key of ['a', 'b', 'c']) pty.handleInput(key);
    assert.deepEqual(fake.asked('place/terminalWrite'), [{ terminal, text: 'a' }]);
    first.resolve({});
    await until(() => calls === 2);
    assert.deepEqual(fake.asked('place/terminalWrite').at(-1), { terminal, text: 'bc' });
  });

  it('divides what is pasted, and does not send what is more than anybody pastes', async () => {
    const { fake, pty, shown } = make();
    pty.open(undefined);
    pty.handleInput('x'.repeat(terminalTextUnits + 1));
    const lengths = () =>
      fake.asked('place/terminalWrite').map((each) => (each as { text: string }).text.length);
    await until(() => lengths().length === 2);
    assert.deepEqual(lengths(), [terminalTextUnits, 1]);
    pty.handleInput('x'.repeat(5_000_000));
    assert.match(shown(), /too much at once/);
    assert.equal(lengths().length, 2);
  });

  const ends: readonly (readonly [what: string, answer: unknown, words: RegExp])[] = [
    [
      'the connection is lost',
      { text: '', end: { code: null, signal: null } },
      /connection to the VM was lost/,
    ],
    [
      'a signal ends the shell',
      { text: '', end: { code: null, signal: 'KILL' } },
      /shell was ended \(KILL\)/,
    ],
  ];
  for (const [what, answer, words] of ends)
    it(`stays open with the reason where ${what}, until a key is pressed`, async () => {
      const { pty, read, closed, shown } = make();
      pty.open(undefined);
      await read(1, answer);
      await until(() => words.test(shown()));
      assert.deepEqual(closed, []);
      pty.handleInput('q');
      assert.deepEqual(closed, [undefined]);
    });

  it('says that the engine is gone, and nothing once it is closed', async () => {
    const gone = make({ 'place/terminalRead': () => Promise.reject(new UserError('closed', 'gone')) });
    gone.pty.open(undefined);
    await until(() => /lost/.test(gone.shown()));

    const { fake, pty, reads, shown } = make();
    pty.open(undefined);
    const before = shown();
    await until(() => reads.length === 1);
    pty.close();
    reads[0]?.reject(new UserError('cancelled', 'closed'));
    await until(() => fake.asked('place/terminalClose').length === 1);
    assert.equal(shown(), before);
  });

  it('keeps a size within what the engine takes', () => {
    const { fake, pty } = make();
    pty.setDimensions({ columns: 0, rows: 5000.5 });
    assert.deepEqual(fake.asked('place/terminalResize'), [{ terminal, columns: 1, rows: 1000 }]);
  });
});

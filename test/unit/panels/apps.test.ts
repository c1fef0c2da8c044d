import assert from 'node:assert/strict';
import { AppSlots, appViewTypes } from '../../../extension/src/appHost/appSlots.ts';
import { PersonActs, type PersonWindow } from '../../../extension/src/appHost/personActs.ts';
import type { BridgeAnswer } from '../../../protocol/src/bridge.ts';

function memento(kept: Record<string, unknown> = {}) {
  return {
    kept,
    get: (name: string) => kept[name],
    update: async (name: string, value: unknown) => void (kept[name] = structuredClone(value)),
  };
}

describe('the view types of apps', () => {
  it('[FRAME-07] are one for each app, which keeps it', async () => {
    const state = memento();
    const slots = new AppSlots(state);
    const first = await slots.take('notes');
    const second = await slots.take('board');
    assert.notEqual(first, second);
    assert.ok(appViewTypes.includes(first) && appViewTypes.includes(second));
    const later = new AppSlots(state);
    assert.equal(await later.take('notes'), first);
    assert.equal(later.appOf(second), 'board');
    assert.equal(later.appOf('sallyport.app64'), undefined);
  });

  it('run out after sixty-four: then the one that was used longest ago is taken over', async () => {
    const slots = new AppSlots(memento());
    const types: string[] = [];
    for (let n = 0; n < 64; n++) types.push(await slots.take(`app-${n}`));
    assert.equal(new Set(types).size, 64);
    await slots.take('app-0');
    const taken = await slots.take('one-more');
    assert.equal(taken, types[1]);
    assert.equal(slots.appOf(taken), 'one-more');
    assert.equal(slots.appOf(types[0] ?? ''), 'app-0');
  });

  for (const damaged of [
    'text',
    [{ app: 'notes' }],
    [{ app: '../x', viewType: 'sallyport.app1' }],
    [{ app: 'a', viewType: 'sallyport.canvas' }],
  ]) {
    it(`start anew where what was kept is damaged: ${JSON.stringify(damaged)}`, async () => {
      const slots = new AppSlots(memento({ 'sallyport.appSlots': damaged }));
      assert.equal(slots.appOf('sallyport.app1'), undefined);
      assert.equal(await slots.take('notes'), 'sallyport.app1');
    });
  }
});

describe('what an app asks a person for', () => {
  function acts(answers: Partial<PersonWindow> = {}) {
    const asked: string[] = [];
    let now = 0;
    const person = new PersonActs(
      'notes',
      {
        openLink: async (app, url) => {
          asked.push(`${app} ${url.href}`);
          return true;
        },
        save: async (app, name, bytes) => {
          asked.push(`${app} ${name} ${Buffer.from(bytes).toString('utf8')}`);
          return true;
        },
        ...answers,
      },
      () => now,
    );
    const ask = async (method: string, params: unknown) =>
      JSON.parse((await person.answer(method, JSON.stringify(params))) ?? 'null') as BridgeAnswer | null;
    return { ask, asked, pass: (ms: number) => (now += ms) };
  }
  const link = { url: 'https://example.org/a' };

  it('[FRAME-06] is shown whole and done when the person agrees', async () => {
    const { ask, asked } = acts();
    assert.deepEqual(await ask('link.open', link), { ok: true, value: { opened: true } });
    assert.deepEqual(await ask('download.save', { name: 'a b.md', content: 'eA==', encoding: 'base64' }), {
      ok: true,
      value: { saved: true },
    });
    assert.deepEqual(asked, ['notes https://example.org/a', 'notes a b.md x']);
    assert.equal(await ask('files.get', {}), null);
  });

  it('[FRAME-06] is one thing at a time', async () => {
    let agree: (opened: boolean) => void = () => undefined;
    const { ask } = acts({ openLink: () => new Promise((resolve) => (agree = resolve)) });
    const first = ask('link.open', link);
    assert.equal(codeOf(await ask('link.open', link)), 'declined');
    assert.equal(
      codeOf(await ask('download.save', { name: 'a', content: '', encoding: 'text' })),
      'declined',
    );
    agree(true);
    assert.equal((await first)?.ok, true);
  });

  it('[FRAME-06] rests for ten seconds after a no, and is asked ten times a minute at most', async () => {
    const refusing = acts({ openLink: async () => false });
    assert.deepEqual(await refusing.ask('link.open', link), { ok: true, value: { opened: false } });
    assert.equal(codeOf(await refusing.ask('link.open', link)), 'declined');
    refusing.pass(10_000);
    assert.equal((await refusing.ask('link.open', link))?.ok, true);

    const agreeing = acts();
    for (let n = 0; n < 10; n++) assert.equal((await agreeing.ask('link.open', link))?.ok, true);
    assert.equal(codeOf(await agreeing.ask('link.open', link)), 'declined');
    agreeing.pass(60_000);
    assert.equal((await agreeing.ask('link.open', link))?.ok, true);
  });

  for (const name of [
    'a/b',
    '..',
    '.',
    '',
    ' . ',
    'CON',
    'nul.txt',
    'a\u0000',
    'a\u202Eb',
    'a:b',
    'a\\b',
    'x'.repeat(101),
  ]) {
    it(`never names a file ${JSON.stringify(name.slice(0, 20))}`, async () => {
      const { ask, asked } = acts();
      assert.equal(codeOf(await ask('download.save', { name, content: '', encoding: 'text' })), 'bad-params');
      assert.deepEqual(asked, []);
    });
  }

  it('loses leading dots of a name, so that no hidden file is made', async () => {
    const { ask, asked } = acts();
    await ask('download.save', { name: '.bashrc', content: 'x', encoding: 'text' });
    assert.deepEqual(asked, ['notes bashrc x']);
  });

  it('fails without telling why the window failed', async () => {
    const { ask } = acts({ save: () => Promise.reject(new Error('/home/someone is read-only')) });
    const answer = await ask('download.save', { name: 'a', content: '', encoding: 'text' });
    assert.deepEqual(answer, { ok: false, code: 'internal', message: 'It could not be done' });
  });
});

function codeOf(answer: BridgeAnswer | null): string | undefined {
  return answer && !answer.ok ? answer.code : undefined;
}

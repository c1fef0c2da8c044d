import ngReleaseSync from '@jitl/quickjs-ng-wasmfile-release-sync';
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { newQuickJSWASMModuleFromVariant, newVariant, type QuickJSContext } from 'quickjs-emscripten-core';
import {
  endWord,
  jsJob,
  runInSandbox,
  runOnThread,
  standardPages,
  startTestThread,
  wasmModule,
} from '../../support/quickjs.ts';

const mebibyte = 1024 * 1024;
const fixtures = join(import.meta.dirname, '../../../test-fixtures/hostile/quickjs');
const attack = (name: string): string => readFileSync(join(fixtures, `${name}.js`), 'utf8');

/** QuickJS as the library gives it, with nothing of ours around it. */
async function bareContext(memory: WebAssembly.Memory): Promise<QuickJSContext> {
  const variant = newVariant(ngReleaseSync, { wasmMemory: memory, wasmModule });
  const quickjs = await newQuickJSWASMModuleFromVariant(variant);
  return quickjs.newRuntime().newContext();
}

/** Each attack again with its one protection off: it must succeed, or the suite beside this proves nothing. */
describe('hostile js cards, negative controls', () => {
  it('[QJS-03] the maximum of the memory bounds a card, and a larger maximum does not', async () => {
    const job = jsJob(attack('memory-string-chunks'));
    const { sandbox, result } = await runInSandbox(job);
    assert.equal(result.kind === 'error' && result.code, 'memory');
    assert.ok(sandbox.memoryBytes <= 64 * mebibyte);

    const open = await runInSandbox(job, { memoryPages: 3 * standardPages });
    assert.ok(open.sandbox.memoryBytes > 128 * mebibyte);
  });

  it("[QJS-03] QuickJS's own memory limit does not bound a card", async () => {
    const memory = new WebAssembly.Memory({ initial: 256, maximum: 3 * standardPages });
    const context = await bareContext(memory);
    context.runtime.setMemoryLimit(32 * mebibyte);
    context.evalCode("const kept = []; while (true) kept.push('x'.repeat(1 << 20) + kept.length);");
    assert.ok(memory.buffer.byteLength > 64 * mebibyte);
  });

  it("[QJS-03] the library writes over the instance's own data where there is no memory; ours reports it", async () => {
    const memory = new WebAssembly.Memory({ initial: 256, maximum: 256 });
    const context = await bareContext(memory);
    const before = new Uint8Array(memory.buffer.slice(0, 4096));
    let outcome = 'returned';
    try {
      context.newString('x'.repeat(15.9 * mebibyte));
    } catch {
      outcome = 'threw';
    }
    const after = new Uint8Array(memory.buffer.slice(0, 4096));
    assert.notDeepEqual(after, before, `the write at 0 happened (${outcome})`);

    const input = { type: 'text', text: 'x'.repeat(15.9 * mebibyte) } as const;
    const source = 'export default ({ inputs }) => ({ out: inputs.big.length });';
    const { result } = await runInSandbox(jsJob(source, { inputs: { big: input } }), { memoryPages: 256 });
    assert.equal(result.kind === 'error' && result.code, 'memory');
  });

  it("[QJS-04] without the host's clock a native loop goes on after the deadline inside", async () => {
    const thread = startTestThread();
    const abort = new AbortController();
    const run = runOnThread(thread, jsJob(attack('array-join-holes'), { deadlineMs: 50 }), 0, abort.signal);
    const beyond = new Promise<'goes on'>((resolve) => setTimeout(() => resolve('goes on'), 1000));
    assert.equal(await Promise.race([run, beyond]), 'goes on');
    abort.abort();
    assert.equal((await run).end.kind, 'cancelled');
    assert.ok(thread.ended);
  });

  it("[QJS-04] without the deadline inside only the host's clock ends a plain loop", async () => {
    const job = jsJob(attack('loop-forever'), { deadlineMs: 2 ** 31 });
    const { end } = await runOnThread(startTestThread(), job, 500);
    assert.equal(endWord(end), 'killed');
  });

  it("[QJS-05] where the thread has little more stack than QuickJS, V8's ends first", async () => {
    const source = `export default () => {
      try { eval('('.repeat(1e6)); } catch (error) { return { out: error.name }; }
    };`;
    const ours = await runOnThread(startTestThread(), jsJob(source), 20_000);
    assert.equal(endWord(ours.end), 'returns "RangeError"');
    const small = startTestThread(undefined, { resourceLimits: { stackSizeMb: 1 } });
    const theirs = await runOnThread(small, jsJob(source), 20_000);
    assert.equal(endWord(theirs.end), 'stack', 'the card could not catch it: the host did');
  });

  it('[QJS-06] a loader that reads files lets a card out of its folder', async () => {
    const context = await bareContext(new WebAssembly.Memory({ initial: 256, maximum: standardPages }));
    context.runtime.setModuleLoader(
      (name) => `export default ${JSON.stringify(readFileSync(name, 'utf8'))}`,
      (base, request) => join(base, '..', request),
    );
    const base = join(fixtures, 'card.js');
    context
      .unwrapResult(
        context.evalCode("import text from '../../../package.json'; globalThis.length = text.length;", base, {
          type: 'module',
        }),
      )
      .dispose();
    const length = context.getProp(context.global, 'length').consume((value) => context.getNumber(value));
    assert.equal(length, readFileSync(join(fixtures, '../../../package.json'), 'utf8').length);

    const { result } = await runInSandbox(
      jsJob("import '../../../package.json'; export default () => ({});"),
    );
    assert.match(result.kind === 'error' ? result.message : '', /^Error: Cannot import "\.\.\//);
  });

  it("[QJS-07] dumping a card's value runs its code on the host's time", async () => {
    const context = await bareContext(new WebAssembly.Memory({ initial: 256, maximum: standardPages }));
    const value = context.unwrapResult(
      context.evalCode('globalThis.ran = false; ({ toJSON() { globalThis.ran = true; return 1; } })'),
    );
    context.dump(value);
    const ran = context.getProp(context.global, 'ran').consume((handle) => context.dump(handle) as unknown);
    assert.equal(ran, true, 'dump called toJSON');
  });

  it('[QJS-08] a shared instance lets a card see what another left', async () => {
    const context = await bareContext(new WebAssembly.Memory({ initial: 256, maximum: standardPages }));
    context.evalCode("globalThis.left = 'secret'").dispose();
    const seen = context
      .unwrapResult(context.evalCode('globalThis.left'))
      .consume((value) => context.getString(value));
    assert.equal(seen, 'secret');

    await runOnThread(
      startTestThread(),
      jsJob("export default () => { globalThis.left = 'secret'; };"),
      20_000,
    );
    const next = await runOnThread(
      startTestThread(),
      jsJob('export default () => ({ out: typeof globalThis.left });'),
      20_000,
    );
    assert.equal(endWord(next.end), 'returns "undefined"');
  });

  it("[QJS-09] a card's clock is in UTC, and without the thread's own it is where the engine runs", async () => {
    const job = jsJob(
      'export default () => ({ out: [new Date(0).getTimezoneOffset(), new Date(0).getHours()] });',
    );
    const zone = process.env['TZ'];
    process.env['TZ'] = 'Asia/Tokyo';
    try {
      const here = await runInSandbox(job);
      assert.deepEqual(here.result.kind === 'ok' && here.result.outputs['out'], '[-540,9]');
      assert.equal(endWord((await runOnThread(startTestThread(), job, 20_000)).end), 'returns [0,0]');
    } finally {
      if (zone === undefined) delete process.env['TZ'];
      else process.env['TZ'] = zone;
    }
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { limits } from '../../../protocol/src/limits.ts';
import { pluginLimits } from '../../../protocol/src/plugin.ts';
import { createPluginHarness, startTimer, type PluginHarness } from '../../support/pluginHost.ts';

const nativeLoop = "export function run() { new Array(1e9).join(''); return 1; }";
const plainLoop = 'export function run() { for (;;); }';

/** Each attack again with its one protection off: it must succeed, or the suites beside this prove nothing. */
describe('hostile plugins, negative controls', () => {
  let folder = '';
  let harness: PluginHarness;
  before(() => (folder = mkdtempSync(join(tmpdir(), 'sallyport-plugins-'))));
  after(() => rmSync(folder, { recursive: true, force: true }));
  afterEach(() => harness.dispose());

  /** The call's end, or `goes on` where it has none within `ms`. */
  const within = async (
    source: string,
    clocks: { callMs: number; interruptMs: number },
    ms = 1000,
  ): Promise<string> => {
    harness = createPluginHarness({ folder, ...clocks });
    harness.install('notes/warm', 'export const run = () => 1;');
    harness.install('notes/attack', source);
    // The programs are read before time is taken.
    await harness.call('notes/warm');
    const abort = new AbortController();
    const beyond = new Promise<string>((resolve) => startTimer(() => resolve('goes on'), ms));
    const end = await Promise.race([harness.outcome('notes/attack', null, { signal: abort.signal }), beyond]);
    abort.abort();
    return end;
  };
  const never = 2 ** 30;

  it("[PLUG-02] without the engine's clock a native loop goes on after the interrupt's time", async () => {
    assert.equal(await within(nativeLoop, { callMs: never, interruptMs: 50 }), 'goes on');
  });

  it("[PLUG-02] without the interrupt the engine's clock ends a plain loop all the same", async () => {
    assert.match(await within(plainLoop, { callMs: 300, interruptMs: never }, 20_000), /^timeout/);
  });

  it('[PLUG-02] without both clocks nothing ends it', async () => {
    assert.equal(await within(plainLoop, { callMs: never, interruptMs: never }), 'goes on');
  });

  it('[PLUG-02] the limits are those that people are told', () => {
    harness = createPluginHarness({ folder });
    assert.equal(pluginLimits.callMs, 10_000);
    assert.equal(pluginLimits.interruptMs, 9500);
    assert.equal(limits.quickjsMemoryBytes, 64 * 1024 * 1024);
  });

  it('[PLUG-07] without a schema the wrong value goes in and comes out', async () => {
    harness = createPluginHarness({ folder });
    const source = 'export const run = (input) => input;';
    const strict = { type: 'object', additionalProperties: false } as const;
    harness.install('notes/checked', { source, functions: { run: { input: strict, output: strict } } });
    harness.install('notes/unchecked', source);
    assert.match(await harness.outcome('notes/checked', { more: 1 }), /^bad-params/);
    assert.equal(await harness.outcome('notes/unchecked', { more: 1 }), '{"more":1}');
  });

  it('[PLUG-10] with the permission the same question is answered', async () => {
    const source = 'export const run = async (_, { generate }) => (await generate.text("x")).text;';
    harness = createPluginHarness({
      folder,
      generate: () => Promise.resolve({ text: 'answered', model: 'm', stop: 'end' } as never),
    });
    harness.install('notes/without', source);
    harness.install('notes/with', { source, rights: [{ name: 'generate', kind: 'text' }] });
    assert.match(
      await harness.outcome('notes/without'),
      /^plugin-failed: HostError: This plugin has no permission/,
    );
    assert.equal(await harness.outcome('notes/with'), '"answered"');
  });
});

import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createPluginHarness, type PluginHarness } from '../../support/pluginHost.ts';
import { bundleWorker } from '../../support/quickjs.ts';

const folder = join(import.meta.dirname, '../../../test-fixtures/hostile/quickjs');
const mebibyte = 1024 * 1024;
/** Three threads with V8, and full instances of 64 MiB, and what the engine's own heap does meanwhile. */
const growthBytes = 320 * mebibyte;

/** What these attack is a card's own: its ports, its log and progress, its default export. */
const ofCardsOnly =
  /^(output|progress|log|entry)-|^(escape-(frozen-api|steal-send|params-constructor)|import-(warm-up|prelude)|loop-in-(table-cell|result-keys))\.js$/;

const wrapper = `import main from './main.js';
const api = { inputs: {}, params: {}, log: sallyport.log, progress() {} };
export async function run() { return (await main(api))?.out ?? null; }`;

/** The ends of a card in the words of a plugin's call. */
const ends: Readonly<Record<string, RegExp>> = {
  timeout: /^timeout: /,
  killed: /^timeout: /,
  memory: /^plugin-failed: The plugin was stopped: it needed more/,
  exception: /^plugin-failed: /,
  stack: /^plugin-failed: /,
};

function isExpected(outcome: string, expected: readonly string[]): boolean {
  return expected.some((word) =>
    word.startsWith('returns ')
      ? outcome === JSON.stringify(JSON.parse(word.slice(8)))
      : ends[word]?.test(outcome) === true,
  );
}

/** Every attack on cards that is no card's alone, as a plugin. */
describe('hostile cards as plugins', () => {
  const files = readdirSync(folder).filter((file) => !ofCardsOnly.test(file));
  let temporary = '';
  let script = '';
  let sampler: NodeJS.Timeout | undefined;
  let [baseBytes, peakBytes] = [0, 0];
  let harness: PluginHarness | undefined;
  before(async () => {
    assert.ok(files.length >= 80, 'the fixtures are gone');
    temporary = mkdtempSync(join(tmpdir(), 'sallyport-plugins-'));
    await bundleWorker(temporary);
    script = join(temporary, 'plugin-worker.mjs');
    baseBytes = process.memoryUsage.rss();
    sampler = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss())), 20);
  });
  after(() => {
    clearInterval(sampler);
    rmSync(temporary, { recursive: true, force: true });
  });
  afterEach(() => harness?.dispose());

  for (const file of files) {
    const source = readFileSync(join(folder, file), 'utf8');
    const expected = (/^\/\/ expect: (.*)$/m.exec(source)?.[1] ?? '').split(' | ');
    it(`[PLUG-01] [PLUG-05] ${file} ends in: ${expected.join(' or ')}`, async () => {
      const isNative = expected.includes('killed');
      const callMs = isNative ? 750 : expected[0] === 'timeout' ? 500 : 20_000;
      harness = createPluginHarness({
        folder: temporary,
        script,
        callMs,
        interruptMs: isNative ? 250 : callMs * 0.95,
        changes: { mostLive: 3 },
      });
      harness.install('notes/attack', { source: wrapper, modules: { 'main.js': source } });
      harness.install('notes/neighbour', 'export const run = () => "well";');
      const [outcome, neighbour] = await Promise.all([
        harness.outcome('notes/attack'),
        harness.outcome('notes/neighbour'),
      ]);
      const accepted = isNative ? [...expected, 'timeout'] : expected;
      assert.ok(isExpected(outcome, accepted), `ended in ${outcome.slice(0, 300)}`);
      assert.equal(neighbour, '"well"', 'a plugin beside it is not disturbed');
      assert.equal(await harness.outcome('notes/neighbour'), '"well"');
      assert.ok(outcome.length < 5000, 'what is told is bounded');
      const grownBytes = peakBytes - baseBytes;
      assert.ok(grownBytes < growthBytes, `memory grew by ${Math.round(grownBytes / mebibyte)} MiB`);
    });
  }
});

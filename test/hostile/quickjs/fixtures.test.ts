import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bundleWorker, endWord, jsJob, runOnThread, startTestThread } from '../../support/quickjs.ts';

const folder = join(import.meta.dirname, '../../../test-fixtures/hostile/quickjs');
const mebibyte = 1024 * 1024;
/** A thread with V8 and a full instance of 64 MiB, and what the engine's own heap does meanwhile. */
const growthBytes = 192 * mebibyte;

interface Fixture {
  readonly name: string;
  readonly source: string;
  readonly expected: readonly string[];
  readonly log: string | undefined;
}

/** A header of `// key: value` lines and the card's main.js. Ends are separated by ` | `. */
function readFixture(file: string): Fixture {
  const source = readFileSync(join(folder, file), 'utf8');
  const header = (key: string): string | undefined => new RegExp(`^// ${key}: (.*)$`, 'm').exec(source)?.[1];
  const expected = header('expect');
  assert.ok(expected, `${file} has no "// expect:"`);
  return { name: file.replace(/\.js$/, ''), source, expected: expected.split(' | '), log: header('log') };
}

function isExpected(word: string, expected: readonly string[]): boolean {
  const canonical = (text: string): string =>
    text.startsWith('returns ') ? `returns ${JSON.stringify(parseOutput(text.slice(8)))}` : text;
  return expected.some((each) => canonical(each) === canonical(word));
}

/** A card may end well without an output. */
function parseOutput(text: string): unknown {
  return text === 'undefined' ? undefined : JSON.parse(text);
}

describe('hostile js cards', () => {
  const fixtures = readdirSync(folder).map(readFixture);
  let temporary = '';
  let script = '';
  let peakBytes = 0;
  let baseBytes = 0;
  let sampler: NodeJS.Timeout | undefined;

  before(async () => {
    temporary = mkdtempSync(join(tmpdir(), 'sallyport-quickjs-'));
    script = await bundleWorker(temporary);
    assert.ok(fixtures.length >= 60, 'the fixtures are gone');
    baseBytes = process.memoryUsage.rss();
    sampler = setInterval(() => (peakBytes = Math.max(peakBytes, process.memoryUsage.rss())), 20);
  });

  after(() => {
    clearInterval(sampler);
    rmSync(temporary, { recursive: true, force: true });
  });

  for (const fixture of fixtures)
    it(`[QJS-01] [QJS-02] ${fixture.name} ends in: ${fixture.expected.join(' or ')}`, async () => {
      const native = fixture.expected.includes('killed');
      const deadlineMs = native ? 250 : fixture.expected[0] === 'timeout' ? 500 : 20_000;
      const job = jsJob(fixture.source, { deadlineMs, logBytes: 512 });
      const neighbour = runOnThread(
        startTestThread(script),
        jsJob('export default () => ({ out: "well" });'),
        20_000,
      );
      // A native loop ends by the host's clock. For the others that clock is far away: they must end by themselves.
      const { end, log } = await runOnThread(startTestThread(script), job, native ? 750 : 40_000);
      const word = endWord(end);
      const detail = end.kind === 'answered' && end.result.kind === 'error' ? end.result.message : '';
      const accepted = native ? [...fixture.expected, 'timeout'] : fixture.expected;
      assert.ok(isExpected(word, accepted), `ended in ${word} ${detail.slice(0, 300)}`);
      assert.ok(detail.length <= 8192, 'the message is bounded');
      assert.ok(log.length <= job.logBytes, 'the log is bounded');
      if (fixture.log === 'cut') {
        assert.ok(end.kind === 'answered' && end.result.logCutBytes > 0, 'the cut log is counted');
      } else if (fixture.log !== undefined) {
        assert.equal(log.trim(), JSON.parse(`"${fixture.log.replaceAll('"', '\\"')}"`));
      }
      assert.equal(endWord((await neighbour).end), 'returns "well"', 'a card beside it is not disturbed');
      const grownBytes = peakBytes - baseBytes;
      assert.ok(grownBytes < growthBytes, `memory grew by ${Math.round(grownBytes / mebibyte)} MiB`);
    });
});

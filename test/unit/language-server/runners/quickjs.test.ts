import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { CardJob, CardRunner } from '../../../../language-server/src/runners/cardRunner.ts';
import { createQuickjsRunner } from '../../../../language-server/src/runners/quickjs.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { jobResult } from '../../../../protocol/src/runner.ts';
import { createBlobStore, type BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { quickjsFiles } from '../../../support/quickjsFiles.ts';
import { cardJob, putFile, recordEvents } from '../../../support/quickjsRunner.ts';

const never = new AbortController().signal;

describe('quickjs runner', () => {
  let folder = '';
  let blobs: BlobStore;
  let runner: CardRunner;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-js-'));
    blobs = createBlobStore(folder);
  });

  beforeEach(() => (runner = createQuickjsRunner({ blobs, files: quickjsFiles, standby: 1 })));
  afterEach(() => runner.dispose());
  after(() => rmSync(folder, { recursive: true, force: true }));

  const read = (digest = ''): string => blobs.readBytes(digest).toString();

  it('[QJS-09] runs a card from blobs to blobs and tells what happens', async () => {
    const source = `export default ({ inputs, params, log, progress }) => {
      log('hello');
      progress(1, 'done');
      return { out: inputs.table.length + params.more };
    };`;
    const events = recordEvents();
    const artifact = putFile(blobs, 'a\n1\n2\n');
    const job = cardJob(blobs, source, {
      inputs: [{ port: 'table', type: 'table', artifact }],
      params: '{"more":40}',
    });
    const result = await runner.run(job, events, never);
    assert.deepEqual(jobResult.parse(result), result, 'fits the contract');
    assert.deepEqual(result.outcome, { kind: 'exited', exitCode: 0 });
    assert.equal(read(result.outputs['out']?.digest), '42');
    assert.equal(result.isolation, 'quickjs');
    assert.equal(result.logBytes, 6);
    assert.deepEqual(events.told, ['started', 'stdout hello\n', 'progress 1 done']);
  });

  it('[QJS-08] runs many cards at once, each in an instance of its own', async () => {
    const source = `globalThis.count = (globalThis.count ?? 0) + 1;
      export default ({ params }) => ({ out: [params.n, globalThis.count] });`;
    const results = await Promise.all(
      Array.from({ length: 8 }, (_, n) =>
        runner.run(cardJob(blobs, source, { params: JSON.stringify({ n }) }), recordEvents(), never),
      ),
    );
    assert.deepEqual(
      results.map((result) => read(result.outputs['out']?.digest)),
      Array.from({ length: 8 }, (_, n) => `[${n},1]`),
    );
  });

  it('[QJS-10] cancels a native loop, a waiting card and one that comes too late', async () => {
    const single = createQuickjsRunner({ blobs, files: quickjsFiles, standby: 0, maxJobs: 1 });
    const abort = new AbortController();
    const endless = cardJob(blobs, "export default () => { new Array(1e9).join(''); };");
    const running = recordEvents();
    const waiting = recordEvents();
    const started = new Promise<void>((resolve) => (running.started = () => resolve()));
    const runs = [single.run(endless, running, abort.signal), single.run(endless, waiting, abort.signal)];
    await started;
    abort.abort();
    for (const result of await Promise.all(runs)) assert.equal(result.outcome.kind, 'cancelled');
    assert.deepEqual(waiting.told, [], 'never started');
    const late = await single.run(endless, recordEvents(), abort.signal);
    assert.equal(late.outcome.kind, 'cancelled');
    await single.dispose();
  });

  it('[QJS-10] tells nothing after it has settled', async () => {
    const abort = new AbortController();
    const events = recordEvents();
    const keep = events.log;
    events.log = (stream, text) => {
      keep(stream, text);
      abort.abort();
    };
    const flood = cardJob(blobs, "export default () => { while (true) console.log('x'); };");
    const result = await runner.run(flood, events, abort.signal);
    assert.equal(result.outcome.kind, 'cancelled');
    const told = events.told.length;
    await runner.run(cardJob(blobs, 'export default () => ({ out: 1 });'), recordEvents(), never);
    assert.equal(events.told.length, told);
  });

  it('[QJS-04] ends by the clock that reaches it, and says so', async () => {
    const limits = { seconds: 1, memoryMB: 64, processes: 1, outputMB: 1, logMB: 1 };
    const results = await Promise.all(
      ['while (true) {}', "new Array(1e9).join('')"].map((code) =>
        runner.run(cardJob(blobs, `export default () => { ${code} };`, { limits }), recordEvents(), never),
      ),
    );
    for (const result of results) {
      assert.deepEqual(result.outcome, { kind: 'timeout', seconds: 1 });
      assert.deepEqual(result.outputs, {});
    }
  });

  it('[QJS-07] cuts the log at its limit and counts the rest', async () => {
    const limits = { seconds: 10, memoryMB: 64, processes: 1, outputMB: 1, logMB: 1 };
    const source =
      "export default () => { for (let n = 0; n < 40; n++) console.log('x'.repeat(32_767)); return { out: 1 }; };";
    const events = recordEvents();
    const result = await runner.run(cardJob(blobs, source, { limits }), events, never);
    assert.equal(result.logBytes, 1024 * 1024);
    assert.equal(result.logCutBytes, 8 * 32_768);
    assert.equal(events.told.join('').replaceAll(/[^x]/g, '').length, 32 * 32_767);
  });

  it('[QJS-12] refuses before it starts anything', async () => {
    const events = recordEvents();
    const access: CardJob['access'] = { network: { kind: 'all' }, hostFolders: [] };
    const result = await runner.run(cardJob(blobs, '', { access }), events, never);
    assert.ok(result.outcome.kind === 'refused' && result.outcome.remedy);
    assert.deepEqual(events.told, []);
  });

  it('reports a full disk, and keeps what it knows of the run', async () => {
    const source = "export default ({ log }) => { log('ran'); return { out: 1 }; };";
    const job = cardJob(blobs, source);
    const full: BlobStore = {
      ...blobs,
      putBytes: () => {
        throw new UserError('disk-full', 'The disk is full');
      },
    };
    const on = createQuickjsRunner({ blobs: full, files: quickjsFiles, standby: 0 });
    const result = await on.run(job, recordEvents(), never);
    assert.ok(result.outcome.kind === 'refused' && result.outcome.code === 'disk-full');
    assert.deepEqual(result.outputs, {});
    assert.equal(result.logBytes, 4);
    await on.dispose();
  });

  it('says which file of the installation is missing, and tries again with the next card', async () => {
    const files = { ...quickjsFiles, wasm: join(folder, 'gone.wasm') };
    const broken = createQuickjsRunner({ blobs, files });
    for (let attempt = 0; attempt < 2; attempt++) {
      const { outcome } = await broken.run(cardJob(blobs, ''), recordEvents(), never);
      assert.ok(outcome.kind === 'refused' && outcome.detail.includes('gone.wasm'));
    }
    await broken.dispose();
  });

  it('[QJS-11] lets the process end while threads stand by', async () => {
    const program = join(import.meta.dirname, '../../../support/quickjsStandby.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [program], { timeout: 150_000 });
    assert.equal(stdout, 'one thread stands by\n');
  });

  it('reports a thread that dies before it stands by', async () => {
    const script = join(folder, 'no-such-worker.mjs');
    const broken = createQuickjsRunner({ blobs, files: { ...quickjsFiles, script }, standby: 0 });
    const { outcome } = await broken.run(cardJob(blobs, ''), recordEvents(), never);
    assert.ok(outcome.kind === 'exception' && outcome.message.includes('no-such-worker'));
    await broken.dispose();
  });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createBlobStore, type BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { cleanStore, storeUsage } from '../../../../language-server/src/store/cleanUp.ts';
import { openHome } from '../../../../language-server/src/store/home.ts';
import { openStore, type Store } from '../../../../language-server/src/store/store.ts';
import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { gatedBehaviour } from '../../../support/fakeRunner.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, statesOf, TestEngine } from '../../../support/testEngine.ts';

describe('clean-up', () => {
  const folder = useTemporaryFolder();

  describe('of an engine', () => {
    let engine: TestEngine;
    const clean = (days?: number) =>
      engine.handlers['store/clean'](days === undefined ? {} : { runsOlderThanDays: days }, never);
    const usage = () => engine.handlers['store/usage']({}, never);
    beforeEach(() => {
      const root = writeProject(join(folder(), 'project'), { a: {}, b: { inputs: inputsFrom('a') } });
      engine = new TestEngine(join(folder(), 'home'), root);
    });
    afterEach(() => engine.dispose());

    it('[CLN-01] shows what is unused first, removes just that, and what is kept still comes from the cache', async () => {
      await engine.run();
      assert.equal((await usage()).unusedBytes, 0);
      writeCard(engine.root, 'a', { code: 'looked at, never run' });
      await engine.handlers['run/dryRun']({ root: engine.root }, never);
      writeCard(engine.root, 'a', {});
      const before = await usage();
      assert.ok(before.unusedBytes > 0 && before.blobBytes > before.unusedBytes);
      const removed = await clean();
      assert.equal(removed.freedBytes, before.unusedBytes);
      assert.equal(removed.removedRuns, 0);
      assert.equal((await usage()).unusedBytes, 0);
      assert.deepEqual(await clean(), { removedRuns: 0, removedBlobs: 0, freedBytes: 0 });
      assert.deepEqual(statesOf(await engine.run()), { a: 'done*', b: 'done*' });
    });

    it('[CLN-02] forgets old runs and then what only they needed', async () => {
      await engine.run();
      writeCard(engine.root, 'a', { code: 'other' });
      const view = await engine.run();
      const removed = await clean(0);
      assert.equal(removed.removedRuns, 2);
      assert.equal((await usage()).blobBytes, 0);
      const digest = view.cards[0]?.outputs[0]?.artifact.digest ?? '';
      await assert.rejects(
        async () => engine.handlers['artifact/locate']({ digest }, never),
        (error) => error instanceof UserError && error.code === 'not-found',
      );
      assert.deepEqual(statesOf(await engine.run()), { a: 'done', b: 'done' });
    });

    it('[CLN-03] removes nothing while a run goes on, here or in another engine', async () => {
      await engine.run();
      const before = await usage();
      const gate = gatedBehaviour(engine.runner);
      engine.runner.behave('b', gate.behaviour);
      writeCard(engine.root, 'b', { inputs: inputsFrom('a'), code: 'other' });
      const runId = await engine.start();
      await gate.entered;
      const other = new TestEngine(join(folder(), 'home'), engine.root);
      for (const each of [engine, other]) {
        await assert.rejects(
          async () => each.handlers['store/clean']({ runsOlderThanDays: 0 }, never),
          (error) => error instanceof UserError && error.code === 'conflict',
        );
      }
      await other.dispose();
      assert.ok((await usage()).blobCount >= before.blobCount);
      gate.open();
      assert.deepEqual(statesOf(await engine.finish(runId)), { a: 'done*', b: 'done' });
    });

    it('[CLN-04] keeps the store within its limit, the latest run’s results last of all', async () => {
      await engine.dispose();
      engine = new TestEngine(join(folder(), 'home'), engine.root, { blobStoreBytes: 40_000 });
      const big = (text: string) =>
        engine.runner.behave('a', (job) => engine.runner.succeed(job, text.repeat(30_000)));
      big('x');
      const first = await engine.run({ cards: ['a'] });
      big('y');
      const second = await engine.run({ cards: ['a'], ignoreCache: true });
      await cleanStoreOf(engine);
      const outputsOf = async (runId: string) => (await engine.view(runId)).cards[0]?.outputs ?? [];
      assert.deepEqual(await outputsOf(first.summary.runId), []);
      const [kept] = await outputsOf(second.summary.runId);
      assert.ok(kept);
      await engine.handlers['artifact/locate']({ digest: kept.artifact.digest }, never);
      assert.ok((await usage()).blobBytes <= 40_000);
      assert.equal((await engine.view(first.summary.runId)).cards[0]?.status.state, 'done');
    });

    /** What an engine does by itself when it looks, which it does rarely. */
    const cleanStoreOf = async ({ services }: TestEngine) => {
      await services.dispose();
      const store = openStore(openHome(join(folder(), 'home')));
      await cleanStore(store.database, createBlobStore(store.home.blobs), { limitBytes: 40_000 });
      store.close();
      engine = new TestEngine(join(folder(), 'home'), engine.root, { blobStoreBytes: 40_000 });
    };
  });

  describe('of a folder', () => {
    let store: Store;
    let blobs: BlobStore;
    beforeEach(() => {
      store = openStore(openHome(join(folder(), 'home')));
      blobs = createBlobStore(store.home.blobs);
    });
    afterEach(() => store.close());

    const put = (text: string): ArtifactRef => ({
      kind: 'file',
      ...blobs.putBytes(Buffer.from(text)),
      files: 1,
    });
    const putFolder = (...texts: string[]): ArtifactRef => {
      const entries = texts.map((text, at) => {
        const { digest, sizeBytes } = blobs.putBytes(Buffer.from(text));
        return { kind: 'file', path: `f${at}`, digest, sizeBytes, executable: false } as const;
      });
      const { digest } = blobs.putBytes(Buffer.from(canonicalJson({ version: 1, entries })));
      return { kind: 'directory', digest, sizeBytes: 9, files: texts.length };
    };

    it('[CLN-05] removes the listing of a folder before its files, so that a listing found has all of them', async () => {
      const results = Array.from({ length: 300 }, (_, at) => putFolder(`one ${at}`, `two ${at}`));
      for (const [at, artifact] of results.entries()) {
        store.results.add(`k${at}`, [{ port: 'out', type: 'directory', artifact }]);
      }
      const order: string[] = [];
      const watched: BlobStore = { ...blobs, remove: (digest) => (order.push(digest), blobs.remove(digest)) };
      await cleanStore(store.database, watched, {});
      assert.equal(order.length, 900);
      assert.deepEqual(new Set(order.slice(0, 300)), new Set(results.map(({ digest }) => digest)));
    });

    it('counts what files share once, and what nothing names as unused', () => {
      put('nobody’s');
      const usage = storeUsage(store.database, blobs, 1);
      assert.equal(usage.unusedBytes, usage.blobBytes);
      assert.equal(usage.blobCount, 1);
      assert.equal(usage.limitBytes, 1);
    });
  });
});

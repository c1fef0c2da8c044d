import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build, type BuildOptions } from 'esbuild';
import { spawnRunner } from '../../../language-server/src/environment.ts';
import { createLocalRunner, type LocalRunner } from '../../../language-server/src/runners/local.ts';
import { parseBundle, toBundle } from '../../../language-server/src/apps/sources/repositoryBundle.ts';
import { createSealedFetch } from '../../../language-server/src/apps/sources/sealedFetch.ts';
import { createTakeRepository } from '../../../language-server/src/apps/sources/takeRepository.ts';
import { FrozenTree } from '../../../language-server/src/apps/tree/frozenTree.ts';
import type { EgressRecord } from '../../../protocol/src/runner.ts';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { appFiles } from '../../support/appFolder.ts';
import { makeRepository, openGitServer, type GitServer } from '../../support/gitServer.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('fetching a repository sealed', () => {
  const folder = useTemporaryFolder();
  let programs: string;
  let server: GitServer;
  let runner: LocalRunner;
  let egress: EgressRecord[];

  before(async () => {
    programs = mkdtempSync(join(tmpdir(), 'sallyport-git-job-'));
    const { targets } = (await import(resolve('scripts/build.mjs'))) as {
      targets: (BuildOptions & { entryPoints: Record<string, string> })[];
    };
    for (const target of targets.filter(({ entryPoints }) => 'git-job' in entryPoints))
      await build({ ...target, outdir: programs, sourcemap: false, metafile: false });
  });
  after(() => rmSync(programs, { recursive: true, force: true }));
  beforeEach(async function () {
    egress = [];
    server = await openGitServer(folder());
    for (const name of ['scratch', 'blobs', 'own']) mkdirSync(join(folder(), name));
    runner = createLocalRunner({
      spawn: () => spawnRunner(resolve('remote-agent/src/main.ts')),
      blobs: join(folder(), 'blobs'),
      scratch: join(folder(), 'scratch'),
      maxJobs: 1,
      onProblem: () => undefined,
    });
    if ((await runner.ready()).isolation.kind !== 'bubblewrap') {
      console.log('      skipped: no bubblewrap on this machine');
      this.skip();
    }
  });
  afterEach(async () => {
    await runner.dispose();
    await server.close();
  });

  const take = async (url: string) => {
    const blobs = createBlobStore(join(folder(), 'own'));
    const taken = await createTakeRepository({
      blobs,
      scratch: join(folder(), 'scratch'),
      environment: () => assert.fail('git was started outside of the sandbox'),
      sealedFetch: createSealedFetch({
        runner,
        blobs: createBlobStore(join(folder(), 'blobs')),
        script: join(programs, 'git-job.cjs'),
        recordEgress: (record) => void egress.push(record),
        createId: () => 'test',
        ca: readFileSync(join(folder(), 'cert.pem'), 'utf8'),
      }),
    })({ kind: 'git', url }, { onProgress: () => undefined, signal: new AbortController().signal });
    return { ...taken, tree: new FrozenTree(blobs, taken.code) };
  };

  it('[APPS-02] git runs where only the repository’s host is reached, and each request is recorded', async () => {
    const commit = makeRepository(folder(), 'app', [
      ...Object.entries(appFiles()).map(([path, content]) => ({ path, content })),
      { path: 'passwd', content: '/etc/passwd', mode: '120000' },
    ]);
    const taken = await take(`${server.base}/app`);
    assert.equal(taken.commit, commit);
    assert.equal(taken.tree.read('passwd').toString(), '/etc/passwd');
    assert.ok(egress.length > 0);
    const { port } = new URL(server.base);
    assert.ok(egress.every((record) => record.host === '127.0.0.1' && String(record.port) === port));
  });

  it('[APPS-08] says in words what went wrong inside', async () => {
    makeRepository(folder(), 'app', []);
    await assert.rejects(take(`${server.base}/none`), { code: 'unreachable', message: /no such repository/ });
    await assert.rejects(take(`https://localhost:${new URL(server.base).port}/app`), { code: 'unreachable' });
  });

  it('[APPS-02] what comes out of the sandbox is judged like any archive', () => {
    const commit = 'a'.repeat(40);
    const of = (files: readonly { path: string; sizeBytes: number }[], content = '') =>
      toBundle({ commit, files: [...files] }, [{ path: '', bytes: Buffer.from(content) }]);
    assert.equal(parseBundle(of([{ path: 'a', sizeBytes: 2 }], 'xy')).files[0]?.bytes.toString(), 'xy');
    for (const [bytes, code] of [
      [of([{ path: '../a', sizeBytes: 0 }]), 'unsafe-path'],
      [
        of([
          { path: 'a', sizeBytes: 0 },
          { path: 'A', sizeBytes: 0 },
        ]),
        'unsafe-path',
      ],
      [of([{ path: 'a', sizeBytes: 3 }], 'xy'), 'unreadable'],
      [of([{ path: 'a', sizeBytes: 2 ** 40 }]), 'too-large'],
      [of([{ path: 'a', sizeBytes: -1 }]), 'unreadable'],
      [Buffer.from('nonsense\n'), 'unreadable'],
      [Buffer.alloc(0), 'unreadable'],
    ] as const)
      assert.throws(() => parseBundle(bytes), { code });
  });
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { RunView } from '../../../../protocol/src/engine.ts';
import { bundledRunner } from '../../../support/bundledRunner.ts';
import { openPlaceEngine } from '../../../support/placeEngine.ts';
import { inputsFrom, writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, statesOf, type TestEngine } from '../../../support/testEngine.ts';
import { until } from '../../../support/until.ts';
import { useSshHost } from '../../../support/useSshHost.ts';

const crashProgram = join(import.meta.dirname, '../../../support/crashPlaceEngine.ts');
const elsewhere = { permissions: { executionService: 'ssh:lab' } };

describe('runs in several places', () => {
  const folder = useTemporaryFolder();
  let engine: TestEngine | undefined;

  afterEach(async () => {
    await engine?.dispose();
    engine = undefined;
  });
  const lab = useSshHost(folder);
  beforeEach(() => void lab.configure());

  const project = () => join(folder(), 'project');
  const open = (): TestEngine =>
    (engine = openPlaceEngine(join(folder(), 'home'), project(), join(folder(), 'ssh_config')));
  const shell = { runtime: 'shell', entry: 'main.sh', outputs: { out: { type: 'text' } } } as const;
  const script = 'echo "from $(cat $SALLYPORT_INPUTS/* 2>/dev/null)" > $SALLYPORT_OUTPUTS/out; echo said\n';
  const write = (cards: Record<string, object>) => {
    const full = Object.fromEntries(Object.entries(cards).map(([id, more]) => [id, { ...shell, ...more }]));
    writeProject(project(), full);
    for (const id of Object.keys(cards)) writeFileSync(join(project(), 'cards', id, 'main.sh'), script);
  };
  const digests = (view: RunView) =>
    Object.fromEntries(view.cards.map(({ id, outputs }) => [id, outputs[0]?.artifact.digest]));

  it('connects nowhere for a card whose place nobody has accepted, and does not run it [PLACE-09]', async () => {
    write({ a: elsewhere });
    const { handlers, run } = bind(open());
    const view = await run();
    assert.deepEqual(statesOf(view), { a: 'blocked' });
    assert.doesNotMatch(lab.host.said, /Connection from/);
    const [card] = (await handlers['permissions/review']({ root: project() }, never)).cards;
    assert.deepEqual(
      card?.permissions.map(({ sentence }) => sentence),
      ['Run on ssh:lab instead of this machine'],
    );
  });

  it('gives the same results here and there, by digest, with one log, and says where each ran [PLACE-10]', async () => {
    write({
      a: {},
      b: { ...elsewhere, inputs: inputsFrom('a') },
      c: { inputs: inputsFrom('b') },
      d: {},
      e: elsewhere,
    });
    const opened = open();
    await opened.acceptAll();
    const view = await opened.run({ ignoreCache: true });
    assert.deepEqual(statesOf(view), { a: 'done', b: 'done', c: 'done', d: 'done', e: 'done' });
    assert.deepEqual(
      view.cards.map(({ id, status }) => [id, status.place ?? 'local']),
      [
        ['a', 'local'],
        ['b', 'ssh:lab'],
        ['c', 'local'],
        ['d', 'local'],
        ['e', 'ssh:lab'],
      ].sort(
        ([one = ''], [other = '']) =>
          view.cards.findIndex(({ id }) => id === one) - view.cards.findIndex(({ id }) => id === other),
      ),
    );
    assert.equal(digests(view)['d'], digests(view)['e']);
    assert.ok(view.cards.every(({ status }) => status.isolation === 'bubblewrap'));
    for (const { status } of view.cards) {
      const { lines } = await opened.handlers['log/read'](
        { cardRunId: status.cardRunId, fromLine: 0, count: 9 },
        never,
      );
      assert.deepEqual(
        lines.map(({ text }) => text),
        ['said'],
      );
    }
    // It is forgotten over there once its result is stored here, which is a message on its way.
    await until(async () => (await opened.handlers['place/held']({ place: 'ssh:lab' }, never)).length === 0);
    const [place] = await opened.handlers['place/list']({}, never);
    assert.equal(place?.state, 'ready');
    assert.equal(place.facts?.isolation.kind, 'bubblewrap');
  });

  it('takes a result that was made here for a card that moved there: the place makes no other result [PLACE-10]', async () => {
    write({ a: {} });
    const opened = open();
    assert.deepEqual(statesOf(await opened.run()), { a: 'done' });
    writeCard(project(), 'a', { ...shell, ...elsewhere });
    await opened.acceptAll();
    assert.deepEqual(statesOf(await opened.run()), { a: 'done*' });
  });

  it('refuses folders of this computer for a card that runs elsewhere [PLACE-11]', async () => {
    write({ a: { permissions: { executionService: 'ssh:lab', sandbox: false } } });
    const opened = open();
    await opened.acceptAll();
    const [card] = (await opened.run()).cards;
    assert.equal(card?.status.state, 'failed');
    assert.match(card.status.reason?.detail ?? '', /can’t be shown to a card on ssh:lab/);
  });

  it('says why where the place can’t be reached, and what does not need it runs [PLACE-12]', async () => {
    write({ a: {}, b: elsewhere });
    await lab.host.stop();
    const opened = open();
    await opened.acceptAll();
    const view = await opened.run();
    assert.deepEqual(statesOf(view), { a: 'done', b: 'failed' });
    const reason = view.cards.find(({ id }) => id === 'b')?.status.reason;
    assert.equal(reason?.kind, 'place');
    assert.match(reason.detail, /127\.0\.0\.1/);
  });

  it('holds up no card but its own where a place takes the connection and says nothing [PLACE-12]', async () => {
    const silent = createServer().on('connection', (socket) => socket.on('error', () => undefined));
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = silent.address() as AddressInfo;
      const config = join(folder(), 'ssh_config');
      const block = `Host silent\n  HostName 127.0.0.1\n  Port ${port}\n  User nobody\n`;
      writeFileSync(config, block + readFileSync(config, 'utf8'));
      write({
        here: {},
        there: elsewhere,
        stuck: { permissions: { executionService: 'ssh:silent' } },
        asking: { permissions: { executionService: 'ssh:silent', network: ['example.org'] } },
      });
      const opened = open();
      await opened.acceptAll();
      // Accepted for less than it asks for now: what a person must answer does not wait for the place either.
      write({
        asking: { permissions: { executionService: 'ssh:silent', network: ['example.org', 'example.com'] } },
      });
      const runId = await opened.start();
      await until(async () => {
        const { here, there } = statesOf(await opened.view(runId));
        return here === 'done' && there === 'done';
      }, 15_000);
      const { cards } = await opened.view(runId);
      const stuck = cards.find(({ id }) => id === 'stuck')?.status;
      assert.equal(stuck?.state, 'queued');
      assert.equal(stuck.progress?.text, 'Waiting for ssh:silent');
      assert.equal(cards.find(({ id }) => id === 'asking')?.status.state, 'blocked');
      await opened.handlers['run/cancel']({ runId }, never);
      assert.deepEqual(statesOf(await opened.finish(runId))['stuck'], 'cancelled');
    } finally {
      silent.close();
    }
  });

  /** Before the n-th statement of a kind: the note of the job, the end of its card, the result, and the forgetting. */
  const points: readonly (readonly [string, number])[] = [
    ['insert into remote_jobs', 1],
    ['insert into results', 1],
    ['update remote_jobs', 1],
    ['delete from remote_jobs', 1],
    ['commit', 4],
    ['commit', 5],
    ['commit', 6],
    ['update runs', 1],
  ];
  for (const [kind, count] of points) {
    it(`loses nothing and runs nothing twice where its engine is killed before “${kind}” ${count} [PLACE-05]`, async () => {
      write({ a: elsewhere });
      const child = spawn(process.execPath, [crashProgram, folder(), kind, String(count), bundledRunner()], {
        stdio: ['ignore', 'pipe', 'inherit'],
      });
      const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
      if (signal === null) assert.equal(code, 0);
      const opened = open();
      const list = async () => (await opened.handlers['run/list']({ limit: 9 }, never)).runs;
      const [run] = await list();
      const settled = async () => {
        await opened.handlers['place/disconnect']({ place: 'ssh:lab' }, never);
        await opened.handlers['place/check']({ place: 'ssh:lab' }, never);
        return (await opened.handlers['place/held']({ place: 'ssh:lab' }, never)).length === 0;
      };
      await until(settled);
      const started = [
        ...readFileSync(join(lab.host.home, '.sallyport/runner/journal'), 'utf8').matchAll(/"t":"started"/g),
      ];
      assert.ok(started.length <= 1, `started ${started.length} times`);
      if (!run) {
        assert.equal(started.length, 0);
        return;
      }
      await until(async () =>
        ['done', 'cancelled', 'skipped'].includes(
          (await opened.view(run.runId)).cards[0]?.status.state ?? '',
        ),
      );
      const [card] = (await opened.view(run.runId)).cards;
      if (card?.status.state === 'done') {
        assert.equal(card.logLines, 1);
        // What was fetched is a result like any other: the next run takes it.
        assert.deepEqual(statesOf(await opened.run()), { a: 'done*' });
      }
    });
  }
});

function bind(engine: TestEngine): { handlers: TestEngine['handlers']; run: () => Promise<RunView> } {
  return { handlers: engine.handlers, run: () => engine.run() };
}

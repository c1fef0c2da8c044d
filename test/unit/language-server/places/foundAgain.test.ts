import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CardRunView, RunView } from '../../../../protocol/src/engine.ts';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import { findTimes } from '../../../../language-server/src/runners/places/findHeld.ts';
import type { EngineServicesOptions } from '../../../../language-server/src/services.ts';
import { bundledRunner } from '../../../support/bundledRunner.ts';
import { openPlaceEngine } from '../../../support/placeEngine.ts';
import { longSleep } from '../../../support/longSleep.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, type TestEngine } from '../../../support/testEngine.ts';
import { until } from '../../../support/until.ts';
import { useSshHost } from '../../../support/useSshHost.ts';

const leftProgram = join(import.meta.dirname, '../../../support/leftPlaceEngine.ts');
const waitMs = 60_000;
/** As long as a test waits. */
const often = { startMs: 0, waitsMs: Array.from({ length: 500 }, () => 100), othersMs: 100 };

/** An engine is killed while its card runs over SSH, and the next one is opened. Nobody presses anything. */
describe('a card that an engine has left elsewhere', function () {
  this.timeout(3 * waitMs);
  const folder = useTemporaryFolder();
  const engines: TestEngine[] = [];
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.dispose();
  });
  // PAM is off, so a password is asked for and none is right.
  const lab = useSshHost(folder, ['PasswordAuthentication yes']);
  beforeEach(() => void lab.configure());

  const project = () => join(folder(), 'project');
  /** Runs a card with this script until it has said something, and kills its engine, after `before` that. */
  const leave = async (script: string, before?: () => Promise<void>): Promise<void> => {
    writeProject(project(), {
      slow: {
        ...{ runtime: 'shell', entry: 'main.sh', outputs: { out: { type: 'text' } } },
        permissions: { executionService: 'ssh:lab' },
      },
    });
    writeFileSync(join(project(), 'cards/slow/main.sh'), script);
    const child = spawn(process.execPath, [leftProgram, folder(), bundledRunner()], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let said = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text));
    await until(() => {
      assert.equal(child.exitCode, null);
      return said.includes('up');
    }, waitMs);
    await before?.();
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    await until(() => lab.host.sessions().length === 0, waitMs);
  };
  const open = (more: Partial<EngineServicesOptions> = {}): TestEngine => {
    const engine = openPlaceEngine(join(folder(), 'home'), project(), join(folder(), 'ssh_config'), {
      findTimes: { ...findTimes, startMs: 0 },
      ...more,
    });
    engines.push(engine);
    return engine;
  };
  const runOf = async (engine: TestEngine): Promise<RunView> => {
    const { runs } = await engine.handlers['run/list']({ limit: 9 }, never);
    assert.equal(runs.length, 1);
    return engine.view(runs[0]?.runId ?? '');
  };
  const cardOf = async (engine: TestEngine): Promise<CardRunView> => {
    const [card] = (await runOf(engine)).cards;
    assert.ok(card);
    return card;
  };
  const comesTo = async (engine: TestEngine, state: string): Promise<CardRunView> => {
    await until(async () => (await cardOf(engine)).status.state === state, waitMs);
    return cardOf(engine);
  };
  const logOf = async (engine: TestEngine): Promise<string[]> => {
    const { cardRunId } = (await cardOf(engine)).status;
    const { lines } = await engine.handlers['log/read']({ cardRunId, fromLine: 0, count: 1000 }, never);
    return lines.map(({ text }) => text);
  };
  const journal = () => readFileSync(join(lab.host.home, '.sallyport/runner/journal'), 'utf8');
  const hasEndedThere = () => until(() => journal().includes('"t":"ended"'), waitMs);
  const viewOf = async (engine: TestEngine): Promise<PlaceView | undefined> =>
    (await engine.handlers['place/list']({}, never)).find(({ id }) => id === 'ssh:lab');
  const connections = () => lab.host.said.match(/Connection from/g)?.length ?? 0;
  const counted = ['1', '2', '3', '4'];
  const nap = longSleep();
  /** Counts to two, and on when it is woken. */
  const counting = `echo 1; echo 2; ${nap.command}; echo 3; echo 4; echo out > $SALLYPORT_OUTPUTS/out\n`;
  const quick = 'echo begin; sleep 0.2; echo end; echo out > $SALLYPORT_OUTPUTS/out\n';
  const endless = 'echo begin; sleep 600\n';

  it('[PLACE-17] that has ended meanwhile is fetched by itself, once, and forgotten there', async () => {
    await leave(quick);
    await hasEndedThere();
    // Without looking its end stays unknown (control).
    const idle = open();
    assert.equal((await cardOf(idle)).status.state, 'unknown');
    const before = connections();
    await idle.dispose();
    assert.equal(connections(), before);

    const engine = open();
    engine.services.findHeld();
    const card = await comesTo(engine, 'done');
    assert.deepEqual(await logOf(engine), ['begin', 'end']);
    assert.equal(card.outputs.length, 1);
    assert.equal((await runOf(engine)).summary.state, 'done');
    const states = engine.told.flatMap(({ method, params }) =>
      method === 'place/changed' ? [params as PlaceView] : [],
    );
    assert.deepEqual(states[0] && [states[0].state, states[0].detail], [
      'connecting',
      'Looking for one card at ssh:lab',
    ]);
    await until(async () => (await engine.handlers['place/held']({ place: 'ssh:lab' }, never)).length === 0);
    assert.equal(journal().match(/"t":"started"/g)?.length ?? 0, 1);
    // What came is a result as any other: nothing runs for it again.
    const again = await engine.run();
    assert.deepEqual(again.cards[0]?.status.cached, true);
  });

  it('[PLACE-17] that goes on is shown as running: its log streams, without a gap or a line twice, to its end', async () => {
    await leave(counting);
    const engine = open();
    engine.services.findHeld();
    const running = await comesTo(engine, 'running');
    assert.equal(running.status.finishedAt, null);
    const { summary } = await runOf(engine);
    assert.equal(summary.state, 'running');
    assert.deepEqual(summary.counts, { running: 1 });
    assert.equal((await viewOf(engine))?.running, 1);
    await until(async () => (await logOf(engine)).length === 2, waitMs);
    // And over a connection that is lost on the way.
    lab.host.signalSessions('SIGKILL');
    await nap.wake();
    await comesTo(engine, 'done');
    assert.deepEqual(await logOf(engine), counted);
    assert.equal((await runOf(engine)).summary.state, 'done');
    assert.equal((await viewOf(engine))?.running, 0);
  });

  it('[PLACE-17] is cancelled there from the run that it belongs to', async () => {
    await leave(endless);
    const engine = open();
    engine.services.findHeld();
    const { status } = await comesTo(engine, 'running');
    const { found } = await engine.handlers['run/cancel']({ runId: status.runId }, never);
    assert.equal(found, true);
    await comesTo(engine, 'cancelled');
    assert.equal((await runOf(engine)).summary.state, 'cancelled');
    await until(() => journal().includes('"t":"ended"'), waitMs);
  });

  it('[PLACE-17] is found again by the next engine, where the one that found it ends too', async () => {
    await leave(counting);
    const first = open();
    first.services.findHeld();
    await comesTo(first, 'running');
    await first.dispose();
    const next = open();
    assert.equal((await cardOf(next)).status.state, 'unknown');
    assert.equal((await runOf(next)).summary.state, 'unknown');
    next.services.findHeld();
    await comesTo(next, 'running');
    await nap.wake();
    await comesTo(next, 'done');
    assert.deepEqual(await logOf(next), counted);
  });

  /** The look is over when a timer that was set after it has run. */
  const looked = () => new Promise((resolve) => setTimeout(resolve, 50));

  /** Whether a card that was found is told as running, without asking for the list of runs, which looks as well. */
  const isToldRunning = (engine: TestEngine) =>
    engine.told.some(
      ({ method, params }) => method === 'run/delta' && JSON.stringify(params).includes('"state":"running"'),
    );

  it('[PLACE-17] is taken up by a window that was there before, when the one that looked after it is closed', async () => {
    await leave(counting);
    const closed = open();
    closed.services.findHeld();
    await comesTo(closed, 'running');
    const stays = open({ findTimes: { ...findTimes, startMs: 0, othersMs: 2 ** 30 } });
    stays.services.findHeld();
    await looked();
    assert.equal(isToldRunning(stays), false);
    await closed.dispose();
    await until(() => isToldRunning(stays), waitMs);
    await nap.wake();
    await comesTo(stays, 'done');
    assert.deepEqual(await logOf(stays), counted);
  });

  it('[PLACE-17] is taken up by a window that was there before, when the one that looked after it is killed', async () => {
    let stays: TestEngine | undefined;
    await leave(counting, async () => {
      stays = open({ findTimes: often });
      stays.services.findHeld();
      await looked();
      assert.equal(isToldRunning(stays), false);
    });
    const engine = stays ?? assert.fail();
    await until(() => isToldRunning(engine), waitMs);
    await nap.wake();
    await comesTo(engine, 'done');
    assert.deepEqual(await logOf(engine), counted);
  });

  it('[PLACE-17] is one engine’s, where several windows look for it at once', async () => {
    await leave(counting);
    const both = [open(), open()];
    for (const engine of both) engine.services.findHeld();
    await Promise.all(both.map((engine) => comesTo(engine, 'running')));
    await nap.wake();
    await Promise.all(both.map((engine) => comesTo(engine, 'done')));
    for (const engine of both) assert.deepEqual(await logOf(engine), counted);
    const [one, other] = both.map(
      (engine) => engine.told.filter(({ method }) => method === 'log/appended').length,
    );
    assert.ok((one === 0) !== (other === 0), `${one} and ${other}`);
  });

  it('[PLACE-17] is found though the host is down when it is first looked for', async () => {
    await leave(quick);
    await hasEndedThere();
    await lab.host.stop();
    const engine = open({ findTimes: often });
    engine.services.findHeld();
    await until(async () => (await viewOf(engine))?.state === 'lost', waitMs);
    await until(async () => /It may hold one card/.test((await viewOf(engine))?.detail ?? ''), waitMs);
    await lab.host.start();
    await comesTo(engine, 'done');
  });

  it('[PLACE-18] is not looked for where its place was taken back: nothing connects until a person does', async () => {
    await leave(quick);
    await hasEndedThere();
    const engine = open();
    const { cards } = await engine.handlers['permissions/review']({ root: project() }, never);
    const key = cards[0]?.permissions[0]?.key ?? '';
    await engine.handlers['permissions/revoke']({ root: project(), card: 'slow', key }, never);
    const before = connections();
    engine.services.findHeld();
    await until(async () => /not accepted any more/.test((await viewOf(engine))?.detail ?? ''));
    assert.equal(connections(), before);
    assert.equal((await viewOf(engine))?.state, 'closed');
    await engine.handlers['place/check']({ place: 'ssh:lab' }, never);
    await comesTo(engine, 'done');
  });

  it('[PLACE-18] is not looked for in a workspace that is not trusted, and is once it is', async () => {
    await leave(quick);
    await hasEndedThere();
    const engine = open({ trusted: false, findTimes: { ...findTimes, startMs: 0 } });
    const before = connections();
    engine.services.findHeld();
    await looked();
    assert.equal(connections(), before);
    assert.equal((await cardOf(engine)).status.state, 'unknown');
    engine.services.setTrusted(true);
    await comesTo(engine, 'done');
  });

  for (const [title, file, change, asks] of [
    ['the host’s key is not known any more', 'known_hosts', () => '', 'place/confirmHostKey'],
    [
      'the host’s key is another one than before',
      'known_hosts',
      (known: string) => known.replace(/AAAA\S+/, changedKey),
      'place/changedHostKey',
    ],
    ['no key lets in any more', 'host/authorized_keys', () => '', 'place/askSecret'],
  ] as const)
    it(`[PLACE-18] asks nothing where ${title}: the place needs a person`, async () => {
      await leave(quick);
      await hasEndedThere();
      const known = join(folder(), file);
      const good = readFileSync(known, 'utf8');
      writeFileSync(known, change(good));
      const asked: string[] = [];
      const ask = (method: string) => {
        // The vault is asked for what it may sign without a question.
        if (method === 'vault/sshKeys') return Promise.resolve([] as never);
        asked.push(method);
        return Promise.resolve({ accepted: false, answers: null } as never);
      };
      // A busy machine may first be too late for the connection itself.
      const engine = open({ placeSurroundings: { person: { ask } }, findTimes: often });
      engine.services.findHeld();
      await until(async () => (await viewOf(engine))?.state === 'asks', waitMs).catch(
        async (error: unknown) => {
          throw new Error(JSON.stringify([await viewOf(engine), engine.problems]), { cause: error });
        },
      );
      const { detail = '', remedy = '' } = (await viewOf(engine)) ?? {};
      assert.match(detail, file === 'known_hosts' ? /SHA256:/ : /does not let/);
      assert.notEqual(remedy, '');
      assert.deepEqual(asked, []);
      assert.equal((await cardOf(engine)).status.state, 'unknown');
      // A person who presses the button is asked, or told (control).
      await engine.handlers['place/check']({ place: 'ssh:lab' }, never);
      assert.deepEqual(asked, [asks]);
      writeFileSync(known, good);
      await engine.handlers['place/check']({ place: 'ssh:lab' }, never);
      await comesTo(engine, 'done');
    });
});

/** Another Ed25519 key, in base64: one character of its 32 bytes is another one. */
function changedKey(key: string): string {
  return `${key.slice(0, 40)}${key[40] === 'A' ? 'B' : 'A'}${key.slice(41)}`;
}

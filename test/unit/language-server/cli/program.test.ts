import assert from 'node:assert/strict';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Reason } from '../../../../protocol/src/engine.ts';
import { buildPrograms } from '../../../support/builtPrograms.ts';
import { writeCard, writeProject } from '../../../support/projectFolder.ts';
import { until } from '../../../support/until.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

interface Report {
  readonly run: string | null;
  readonly cards: {
    readonly id: string;
    readonly state: string;
    readonly cached: boolean;
    readonly isolation: string | null;
    readonly reason: Reason | null;
    readonly exitCode: number | null;
    readonly runMs: number | null;
  }[];
}

/** The built program with the real runner: what a person gets who types the command. */
describe('the built command line', () => {
  const folder = useTemporaryFolder();
  let programs = '';
  let root: string;
  const running: ChildProcess[] = [];
  before(async function () {
    if (!existsSync('/usr/bin/bwrap')) {
      console.log('    skipped: bubblewrap is not installed');
      this.skip();
    }
    programs = await buildPrograms();
  });
  after(() => {
    if (programs !== '') rmSync(programs, { recursive: true });
  });
  beforeEach(() => {
    root = writeProject(join(folder(), 'project'), {});
    card('first', 'echo one > "$SALLYPORT_OUTPUTS/out"');
    card('second', 'cat "$SALLYPORT_INPUTS/in" > "$SALLYPORT_OUTPUTS/out"', {
      in: { type: 'text', from: 'first/out' },
    });
  });
  afterEach(async () => {
    for (const child of running.splice(0)) {
      if (child.exitCode === null && child.signalCode === null) {
        child.kill('SIGKILL');
        await once(child, 'exit');
      }
    }
  });

  const card = (id: string, code: string, inputs = {}) =>
    writeCard(root, id, { runtime: 'shell', entry: 'main.py', code: `${code}\n`, inputs });
  const start = (...argv: string[]) => {
    const child = spawn(process.execPath, [join(programs, 'dist/cli.mjs'), ...argv], {
      stdio: ['pipe', 'pipe', 'pipe'],
      env: {
        PATH: process.env['PATH'],
        HOME: folder(),
        SALLYPORT_HOME: join(folder(), 'home'),
        TOKEN: 'secret',
      },
    });
    running.push(child);
    let out = '';
    let notes = '';
    child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()));
    child.stderr.on('data', (chunk: Buffer) => (notes += chunk.toString()));
    const ended = once(child, 'close').then(([code, signal]) => ({
      code: code as number | null,
      signal: signal as string | null,
      out,
      notes,
    }));
    return { child, ended, notes: () => notes };
  };
  const run = async (...argv: string[]) => {
    const { code, out, notes } = await start('run', root, '--json', ...argv).ended;
    assert.equal(out.trim().split('\n').length, 1, out + notes);
    const report = JSON.parse(out) as Report;
    return {
      code,
      notes,
      report,
      states: report.cards.map(({ id, state, cached }) => `${id} ${cached ? 'cached' : state}`),
    };
  };

  it('[CLI-01] runs cards sealed, then reuses them in another process', async () => {
    const first = await run();
    assert.equal(first.code, 0, first.notes);
    assert.deepEqual(first.states, ['first done', 'second done']);
    for (const { isolation, exitCode, runMs } of first.report.cards) {
      assert.equal(isolation, 'bubblewrap');
      assert.equal(exitCode, 0);
      assert.ok(runMs !== null && runMs > 0);
    }
    const second = await run();
    assert.deepEqual(second.states, ['first cached', 'second cached']);
    const why = await start('why', root, 'first').ended;
    assert.match(why.out, /from the cache/);
  });

  it('tells the exit codes apart with real cards', async () => {
    card('second', 'echo "$TOKEN"; exit 7', { in: { type: 'text', from: 'first/out' } });
    const failed = await run();
    assert.equal(failed.code, 1);
    const [, second] = failed.report.cards;
    assert.equal(second?.exitCode, 7);
    assert.equal(second.reason?.kind, 'exit');
    writeFileSync(join(root, 'sallyport.json'), '{}');
    assert.equal((await run()).code, 2);
  });

  it('[CLI-03] takes no permission from a pipe', async () => {
    writeCard(root, 'asking', {
      runtime: 'shell',
      entry: 'main.py',
      permissions: { network: true },
      code: 'true\n',
    });
    const review = start('permissions', root, '--review');
    review.child.stdin.end('asking\nyes\nasking\n');
    assert.equal((await review.ended).code, 3);
    const { code, notes } = await run();
    assert.equal(code, 3);
    assert.match(notes, /Permission needed: asking: Reach the whole network/);
  });

  it('[CLI-05] Ctrl-C ends the card and all it started, and says so', async () => {
    card('first', marked('sleep 1000 & sleep 1000'));
    const { child, ended } = start('run', root, '--json');
    await until(() => cardProcesses().length >= 2);
    child.kill('SIGINT');
    const { code, out } = await ended;
    assert.equal(code, 130);
    const { cards } = JSON.parse(out) as Report;
    assert.deepEqual(
      cards.map(({ state }) => state),
      ['cancelled', 'cancelled'],
    );
    assert.deepEqual(cardProcesses(), []);
  });

  it('[CRA-01] killed with -9 it leaves no card process, and no card running for ever', async () => {
    card('second', marked('sleep 1000'), { in: { type: 'text', from: 'first/out' } });
    const { child, ended } = start('run', root, '--json');
    await until(() => cardProcesses().length >= 1);
    child.kill('SIGKILL');
    assert.equal((await ended).signal, 'SIGKILL');
    await until(() => cardProcesses().length === 0);
    const history = await start('history', root, '--json').ended;
    const { runs } = JSON.parse(history.out) as { runs: { state: string; counts: Record<string, number> }[] };
    assert.deepEqual(
      runs.map(({ state, counts }) => [state, counts]),
      [['unknown', { done: 1, unknown: 1 }]],
    );
    card('second', 'echo two > "$SALLYPORT_OUTPUTS/out"', { in: { type: 'text', from: 'first/out' } });
    assert.deepEqual((await run()).states, ['first cached', 'second done']);
  });

  it('[CRA-02] a runner killed with -9 leaves its card unknown, and no process', async () => {
    card('first', marked('sleep 1000'));
    const { child, ended } = start('run', root, '--json');
    await until(() => cardProcesses().length >= 1);
    const runner = processes().find(
      ({ parent, command }) => parent === child.pid && command.includes('remote-agent'),
    );
    assert.ok(runner);
    process.kill(runner.pid, 'SIGKILL');
    const { code, out } = await ended;
    assert.equal(code, 1);
    const { cards } = JSON.parse(out) as Report;
    assert.deepEqual(
      cards.map(({ state }) => state),
      ['unknown', 'skipped'],
    );
    await until(() => cardProcesses().length === 0);
  });

  /** A shell line whose processes can be told from everyone else’s. */
  const marked = (line: string) => line.replaceAll('sleep 1000', `sleep 1000.${process.pid}`);
  const cardProcesses = () => processes().filter(({ command }) => command === `sleep 1000.${process.pid}`);
});

function processes(): { pid: number; parent: number; command: string }[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .flatMap((name) => {
      try {
        const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
        const [, parent] = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ').trim();
        return [{ pid: Number(name), parent: Number(parent), command }];
      } catch {
        return [];
      }
    });
}

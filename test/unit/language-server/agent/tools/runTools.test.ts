import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createRunTools } from '../../../../../language-server/src/agent/tools/runTools.ts';
import type { Tool } from '../../../../../language-server/src/agent/tools/tool.ts';
import { endedWith, gatedBehaviour } from '../../../../support/fakeRunner.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { inputsFrom, writeProject } from '../../../../support/projectFolder.ts';
import { RunToolServices } from '../../../../support/runToolServices.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';
import { until } from '../../../../support/until.ts';

describe('run tools', () => {
  const folder = useTemporaryFolder();
  let harness: GateHarness;
  let services: RunToolServices;
  let tools: readonly Tool[] = [];
  const root = () => join(folder(), 'project');
  const other = () => join(folder(), 'other');
  beforeEach(() => {
    writeProject(root(), {
      a: {},
      b: { inputs: inputsFrom('a') },
      online: { permissions: { network: ['example.com'] } },
    });
    writeProject(other(), { x: {} });
    harness = new GateHarness();
    services = new RunToolServices(folder(), [root(), other()]);
    tools = createRunTools(services.deps);
    for (const kind of ['read', 'run'] as const)
      harness.gate.give({ scope: 's'.repeat(64), kind, conversation: 'c1', folder: '' });
  });
  afterEach(async () => {
    await services.dispose();
    harness.close();
  });
  const call = (
    name: string,
    args: object,
    answers: readonly ('allow-once' | 'decline')[] = [],
    at = root(),
    signal?: AbortSignal,
  ) => {
    const tool = tools.find((each) => each.name === name);
    assert.ok(tool, name);
    return callTool(harness, tool, args, callContext(at), answers, signal);
  };

  it('[RTOOL-01] runs cards as a person’s run does, and tells states, outputs and times', async () => {
    const { text, isError, runId } = await call('run_cards', { cards: ['b'] });
    assert.match(text, /^Run r[0-9a-f]{16}: done\.\n- a: done \(exit code 0; ran [^]*\n- b: done/);
    assert.equal(isError, false);
    assert.deepEqual(services.runner.takeRun(), ['a', 'b']);
    assert.match((await call('run_cards', { cards: ['b'] })).text, /- a: done \(from the cache/);
    assert.match((await call('run_status', { runId })).text, /^Run r/);
    assert.deepEqual(services.runner.takeRun(), []);
  });

  it('[RTOOL-01] names each permission that no person accepted, and accepts none', async () => {
    const { text } = await call('run_cards', {});
    assert.match(text, /- online: blocked/);
    assert.match(
      text,
      /online needs a permission that no person accepted: Reach example\.com[^\n]*\[network:example\.com\]/,
    );
    assert.deepEqual(services.runner.takeRun(), ['a', 'b']);
    assert.equal(services.deps.review(root()).cards[0]?.permissions[0]?.isNew, true);
    for (const extra of [{ accept: true }, { permissions: ['network:example.com'] }])
      assert.equal((await call('run_cards', extra)).state, 'failed');
  });

  it('[RTOOL-01] binds its question to the code of each card', async () => {
    for (const { id, kind } of harness.gate.grants('s'.repeat(64)))
      if (kind === 'run') harness.gate.revoke(id);
    const running = call('run_cards', { cards: ['b'] });
    await until(() => harness.gate.waiting().length > 0);
    assert.deepEqual(
      harness.gate.waiting()[0]?.targets.map(({ name }) => name),
      ['cards/a', 'cards/b'],
    );
    writeFileSync(join(root(), 'cards/a/main.py'), 'evil');
    harness.answer('allow-once');
    assert.equal((await running).refusal, 'changed');
    assert.deepEqual(services.runner.takeRun(), []);
  });

  it('tells a failure with its reason, and what a card printed, head and tail', async () => {
    services.runner.behave('a', (_job, events) => {
      for (let line = 0; line < 3000; line++) events.log(line % 2 ? 'stderr' : 'stdout', `line ${line}\n`);
      return endedWith({ kind: 'exited', exitCode: 3 });
    });
    const { text, isError } = await call('run_cards', { cards: ['b'] });
    assert.match(text, /- a: failed \(exit code 3[^]*exit: /);
    assert.match(text, /- b: skipped/);
    assert.equal(isError, true);
    const log = (await call('run_read', { card: 'a', what: 'log' })).text;
    assert.match(log, /^line 0\nstderr: line 1\n[^]*\[… 2200 lines left out …\][^]*line 2999$/);
  });

  it('reads outputs as bounded text', async () => {
    services.runner.behave('a', (job) => services.runner.succeed(job, 'x'.repeat(100_000)));
    await call('run_cards', { cards: ['a'] });
    const { text } = await call('run_read', { card: 'a', what: 'out' });
    assert.match(text, /^a\/out \(text\):\nout x+\n\[… \d+ of 100004 bytes left out …\]$/);
    services.runner.behave('a', (job) => services.runner.succeed(job, '\0\0'));
    await call('run_cards', { cards: ['a'], ignoreCache: true });
    assert.match((await call('run_read', { card: 'a', what: 'out' })).text, /no text; not shown/);
    assert.match(
      (await call('run_read', { card: 'a', what: 'none' })).text,
      /no output none[^]*Outputs: out/,
    );
  });

  it('goes on after the time that it was to wait, and stops its run when it is cancelled', async () => {
    const first = gatedBehaviour(services.runner);
    services.runner.behave('a', first.behaviour);
    const controller = new AbortController();
    const running = call('run_cards', { cards: ['a'], waitSeconds: 600 }, [], root(), controller.signal);
    await first.entered;
    controller.abort();
    assert.match((await running).text, /cancelled/);
    const second = gatedBehaviour(services.runner);
    services.runner.behave('a', second.behaviour);
    const waiting = await call('run_cards', { cards: ['a'], waitSeconds: 1 });
    assert.match(waiting.text, /still running[^]*It goes on\. Call run_status with r/);
    second.open();
    assert.ok(waiting.runId);
    await services.runs.whenFinished(waiting.runId);
    assert.match((await call('run_status', {})).text, /done/);
  });

  it('[RTOOL-02] knows no run of another project and no card that is not there', async () => {
    const { runId } = await call('run_cards', {}, [], other());
    for (const [name, args] of [
      ['run_status', { runId }],
      ['run_read', { runId, card: 'x', what: 'log' }],
      ['run_status', {}],
      ['run_cards', { cards: ['x'] }],
    ] as const)
      assert.match((await call(name, args)).text, /There is no|No run of this project/, name);
    assert.equal((await call('history_delete', { runs: [runId] }, ['allow-once'])).isError, true);
    assert.match((await call('run_status', {}, [], other())).text, /done/);
  });

  it('[RTOOL-03] forgets exactly the runs that were shown, each time asked', async () => {
    const one = (await call('run_cards', { cards: ['a'] })).runId;
    const two = (await call('run_cards', { cards: ['b'] })).runId;
    assert.equal((await call('history_delete', { runs: [one] }, ['decline'])).refusal, 'declined');
    const running = call('history_delete', { runs: [one, one] });
    await until(() => harness.gate.waiting().length > 0);
    const [asked] = harness.gate.waiting();
    assert.deepEqual(
      asked?.targets.map(({ name }) => name),
      [one],
    );
    assert.match(
      asked.lines[0] ?? '',
      /^r[0-9a-f]+: done, begun .*1 cards, \d+ bytes of results, 0 lines of log$/,
    );
    harness.answer('allow-once');
    assert.equal((await running).state, 'done');
    assert.equal(services.store.runs.seqOf(one ?? ''), undefined);
    assert.notEqual(services.store.runs.seqOf(two ?? ''), undefined);
  });

  it('[RTOOL-03] forgets none that runs, and nothing where one of them is gone', async () => {
    const ended = (await call('run_cards', { cards: ['a'] })).runId ?? '';
    const { behaviour, open, entered } = gatedBehaviour(services.runner);
    services.runner.behave('a', behaviour);
    const runId = await services.runs.start(root(), { cards: ['a'], ignoreCache: true });
    await entered;
    assert.match(
      (await call('history_delete', { runs: [ended, runId] }, ['allow-once'])).text,
      /still going on/,
    );
    open();
    await services.runs.whenFinished(runId);
    const gone = `r${'0'.repeat(16)}`;
    assert.equal((await call('history_delete', { runs: [ended, gone] }, ['allow-once'])).isError, true);
    assert.notEqual(services.store.runs.seqOf(ended), undefined);
  });

  it('[RTOOL-03] clears only what no run needs, as it was measured', async () => {
    const kept = (await call('run_cards', { cards: ['b'] })).runId ?? '';
    const stray = services.blobs.putBytes(Buffer.from('stray'));
    const running = call('cache_clear', {});
    await until(() => harness.gate.waiting().length > 0);
    assert.match(harness.gate.waiting()[0]?.lines[0] ?? '', /1 results, 5 bytes/);
    const late = services.blobs.putBytes(Buffer.from('late'));
    harness.answer('allow-once');
    assert.equal((await running).refusal, 'changed');
    assert.ok(services.blobs.has(stray.digest));
    const { text } = await call('cache_clear', {}, ['allow-once']);
    assert.match(text, /Removed 2 results, 9 bytes/);
    assert.equal(services.blobs.has(late.digest), false);
    services.runner.takeRun();
    await call('run_cards', { cards: ['b'] });
    assert.deepEqual(services.runner.takeRun(), []);
    assert.notEqual(services.store.runs.seqOf(kept), undefined);
  });
});

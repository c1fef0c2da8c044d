import assert from 'node:assert/strict';
import {
  describeTask,
  needsReason,
  outcomeWithoutResult,
  withReason,
} from '../../../../remote-agent/src/batch/batchOutcome.ts';
import type { BatchEnd } from '../../../../remote-agent/src/batch/batchSystem.ts';
import { emptyResult } from '../../../../protocol/src/runner.ts';

type Row = [BatchEnd | undefined, string, started: boolean, kind: string, text: RegExp];

describe('the end of a job that left no result', () => {
  const rows: Row[] = [
    ['timeout', 'TIMEOUT', true, 'timeout', /time limit of its job \(TIMEOUT\)/],
    ['timeout', 'TIMEOUT', false, 'refused', /time limit before the card was started/],
    ['memory', 'OUT_OF_MEMORY', true, 'limit', /more memory/],
    ['cancelled', 'CANCELLED', true, 'cancelled', /in Slurm, not from Sallyport/],
    ['cancelled', 'CANCELLED', false, 'cancelled', /in Slurm, not from Sallyport/],
    ['preempted', 'PREEMPTED', true, 'cancelled', /higher priority/],
    ['node-lost', 'NODE_FAIL', true, 'unknown', /node failed.*not run again/],
    ['node-lost', 'BOOT_FAIL', false, 'refused', /before the card was started/],
    ['not-started', 'DEADLINE', false, 'refused', /DEADLINE/],
    ['completed', 'COMPLETED', true, 'unknown', /no result/],
    ['failed', 'FAILED', false, 'refused', /FAILED.*said: no such file/],
    [undefined, '', true, 'unknown', /knows nothing of it any more/],
    [undefined, '', false, 'refused', /knows nothing of it any more/],
  ];
  for (const [end, word, wasStarted, kind, text] of rows) {
    it(`${word || 'forgotten'}, ${wasStarted ? 'started' : 'not started'}: ${kind} [SLURM-03]`, () => {
      const said = word === 'FAILED' ? 'no such file' : '';
      const task = end && { end, word };
      const outcome = outcomeWithoutResult({
        task,
        wasStarted,
        title: 'Slurm',
        seconds: 5,
        said,
        folder: '/shared',
        otherFolder: 'Name another.',
      });
      assert.equal(outcome.kind, kind);
      assert.match('detail' in outcome ? (outcome.detail ?? '') : '', text);
    });
  }

  it('a result that only Slurm can explain gets its words; any other stays as it is', () => {
    const ended = emptyResult({ kind: 'cancelled' });
    const killed = emptyResult({ kind: 'signalled', signal: 'SIGKILL' });
    const ended15 = emptyResult({ kind: 'signalled', signal: 'SIGTERM' });
    for (const result of [ended, killed, ended15, emptyResult({ kind: 'unknown', detail: '' })])
      assert.ok(needsReason({ result }));
    assert.ok(needsReason({ result: emptyResult({ kind: 'exited', exitCode: 143 }) }));
    assert.ok(!needsReason({ result: emptyResult({ kind: 'timeout', seconds: 1 }) }));
    const kindOf = (result: typeof ended, end: BatchEnd, word: string) =>
      withReason({ result }, { end, word }, 'Slurm', 5).outcome;
    assert.equal(kindOf(ended, 'timeout', 'TIMEOUT').kind, 'timeout');
    assert.equal(kindOf(ended, 'preempted', 'PREEMPTED').kind, 'cancelled');
    assert.equal(kindOf(ended15, 'cancelled', 'CANCELLED').kind, 'cancelled');
    assert.deepEqual(kindOf(ended15, 'completed', 'COMPLETED'), ended15.outcome);
    assert.equal(kindOf(killed, 'memory', 'OUT_OF_MEMORY').kind, 'limit');
    assert.deepEqual(kindOf(killed, 'completed', 'COMPLETED'), killed.outcome);
    assert.deepEqual(withReason({ result: ended }, undefined, 'Slurm', 5).outcome, {
      kind: 'cancelled',
      detail: 'Slurm ended it (it does not say why)',
    });
  });

  it('a success stands, unless Slurm says that memory ran out, or the node where Slurm is silent', () => {
    const exited = emptyResult({ kind: 'exited', exitCode: 0 });
    const done = {
      ...exited,
      outputs: { out: { kind: 'file' as const, digest: '0'.repeat(64), sizeBytes: 1, files: 1 } },
    };
    assert.ok(needsReason({ result: done }));
    assert.ok(needsReason({ result: done, killedForMemory: true }));
    assert.ok(!needsReason({ result: done, killedForMemory: false }));
    const word = 'WORD';
    for (const killedForMemory of [true, undefined]) {
      const kept = { result: done, killedForMemory };
      const memory = withReason(kept, { end: 'memory', word: 'OUT_OF_MEMORY' }, 'Slurm', 5);
      assert.deepEqual([memory.outcome.kind, memory.outputs], ['limit', {}]);
      for (const end of ['completed', 'failed', 'timeout', 'cancelled', 'preempted', 'node-lost'] as const)
        assert.deepEqual(withReason(kept, { end, word }, 'Slurm', 5), done);
    }
    assert.deepEqual(withReason({ result: done }, undefined, 'Slurm', 5), done);
    const counted = withReason({ result: done, killedForMemory: true }, undefined, 'Slurm', 5);
    assert.ok(counted.outcome.kind === 'limit' && counted.outcome.limit === 'memory');
    assert.deepEqual(counted.outputs, {});
  });

  it('a task is described by what it waits for', () => {
    const task = {
      name: 'sallyport-a',
      index: 0,
      handle: '1',
      word: 'PENDING',
      reason: 'Resources (no node is free)',
      end: undefined,
      isRunning: false,
    };
    assert.equal(describeTask(task, 'Slurm'), 'In Slurm’s queue: Resources (no node is free)');
    assert.equal(
      describeTask({ ...task, word: 'RUNNING', isRunning: true }, 'Slurm'),
      'Slurm starts it (running)',
    );
    assert.equal(describeTask({ ...task, reason: '' }, 'Slurm'), 'In Slurm’s queue: waiting');
    assert.equal(describeTask(undefined, 'Slurm'), 'Slurm has it');
  });
});

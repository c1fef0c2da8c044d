import assert from 'node:assert/strict';
import { UserError, errorCodes } from '../../../protocol/src/errors.ts';
import { decideOutcome, type Observed } from '../../../remote-agent/src/jobOutcome.ts';
import { toRefusal } from '../../../remote-agent/src/jobs.ts';

const exited = (exitCode: number) => ({ kind: 'exited', exitCode, said: '' }) as const;
const lost = { kind: 'lost', said: 'gone' } as const;
const memory = { limit: 'memory', detail: 'd' } as const;
const processes = { limit: 'processes', detail: 'd' } as const;
const output = { limit: 'output', detail: 'd' } as const;

const rows: readonly (readonly [string, Partial<Observed>, object])[] = [
  ['an exit', { end: exited(3) }, { kind: 'exited', exitCode: 3 }],
  [
    'a signal',
    { end: { kind: 'signalled', number: 11, said: '' } },
    { kind: 'signalled', signal: 'SIGSEGV' },
  ],
  [
    'a signal without a name',
    { end: { kind: 'signalled', number: 40, said: '' } },
    { kind: 'signalled', signal: 'signal 40' },
  ],
  ['a cancellation', { stop: { kind: 'cancelled' }, end: lost }, { kind: 'cancelled' }],
  ['a time-out', { stop: { kind: 'timeout', seconds: 2 }, end: lost }, { kind: 'timeout', seconds: 2 }],
  [
    'a limit that the watchdog saw',
    { stop: { kind: 'excess', ...memory }, end: lost },
    { kind: 'limit', ...memory },
  ],
  ['a limit that the kernel kept', { excess: memory, end: exited(137) }, { kind: 'limit', ...memory }],
  ['outputs cut short in spite of success', { excess: output, end: exited(0) }, { kind: 'limit', ...output }],
  [
    'processes that were refused and not missed',
    { excess: processes, end: exited(0) },
    { kind: 'exited', exitCode: 0 },
  ],
  [
    'processes that were refused and missed',
    { excess: processes, end: exited(1) },
    { kind: 'limit', ...processes },
  ],
];

describe('the outcome of a job', () => {
  for (const [name, observed, expected] of rows) {
    it(`[JOB-04] is told for ${name}`, () => {
      assert.deepEqual(
        decideOutcome({ stop: undefined, excess: undefined, end: lost, ...observed }),
        expected,
      );
    });
  }

  it('[JOB-04] is unknown where nobody saw the end', () => {
    assert.equal(decideOutcome({ stop: undefined, excess: undefined, end: lost }).kind, 'unknown');
  });

  it('[JOB-04] is a refusal with its code and remedy for every error of ours', () => {
    for (const code of errorCodes.filter((each) => each !== 'cancelled')) {
      const outcome = toRefusal(new UserError(code, 'text', { remedy: 'mend it' }));
      assert.deepEqual([outcome.kind, 'remedy' in outcome && outcome.remedy], ['refused', 'mend it']);
    }
    assert.deepEqual(toRefusal(new Error('odd')), { kind: 'refused', code: 'internal', detail: 'odd' });
  });

  it('[JOB-04] is cancelled where it was cancelled before its program started', () => {
    assert.deepEqual(toRefusal(new UserError('cancelled', 'text')), { kind: 'cancelled' });
  });
});

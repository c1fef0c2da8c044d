import assert from 'node:assert/strict';
import { lostEnding, toEnding } from '../../../../language-server/src/runs/outcome.ts';
import type { CardState, Reason } from '../../../../protocol/src/engine.ts';
import { defaultCardLimits } from '../../../../protocol/src/limits.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { JobOutcome, JobResult } from '../../../../protocol/src/runner.ts';
import { endedWith } from '../../../support/fakeRunner.ts';

const artifact = { kind: 'file', digest: '0'.repeat(64), sizeBytes: 1, files: 1 } as const;
const card = {
  runtime: 'python',
  limits: defaultCardLimits,
  outputs: [
    { port: 'out', type: 'text', optional: false },
    { port: 'more', type: 'text', optional: true },
  ],
} as const;
const end = (outcome: JobOutcome, over: Partial<JobResult> = {}) =>
  toEnding({ ...endedWith(outcome), ...over }, card);

describe('outcome', () => {
  /** Every way in which a job can end, and what its card is then. Only the first is a success. */
  const table: readonly (readonly [JobOutcome, Partial<JobResult>, CardState, Reason['kind'] | null])[] = [
    [{ kind: 'exited', exitCode: 0 }, { outputs: { out: artifact } }, 'done', null],
    [{ kind: 'exited', exitCode: 0 }, { outputs: { more: artifact } }, 'failed', 'output-problem'],
    [{ kind: 'exited', exitCode: 0 }, { outputs: { toString: artifact } }, 'failed', 'output-problem'],
    [
      { kind: 'exited', exitCode: 0 },
      {
        outputs: { out: artifact },
        outputProblems: [{ port: 'more', kind: 'not-regular', detail: 'a link' }],
      },
      'failed',
      'output-problem',
    ],
    [
      { kind: 'exited', exitCode: 0 },
      {
        outputs: { out: artifact },
        outputProblems: [{ port: 'scratch.txt', kind: 'unexpected', detail: 'no output port' }],
      },
      'done',
      null,
    ],
    [
      { kind: 'exited', exitCode: 0 },
      {
        outputs: { out: artifact },
        outputProblems: [
          { port: 'scratch.txt', kind: 'unexpected', detail: 'no output port' },
          { port: 'more', kind: 'invalid', detail: 'not UTF-8' },
        ],
      },
      'failed',
      'output-problem',
    ],
    [{ kind: 'exited', exitCode: 1 }, { outputs: { out: artifact } }, 'failed', 'exit'],
    [{ kind: 'signalled', signal: 'SIGSEGV' }, {}, 'failed', 'signal'],
    [{ kind: 'timeout', seconds: 3 }, {}, 'failed', 'timeout'],
    [{ kind: 'limit', limit: 'memory', detail: 'x' }, {}, 'failed', 'memory'],
    [{ kind: 'limit', limit: 'processes', detail: 'x' }, {}, 'failed', 'processes'],
    [{ kind: 'limit', limit: 'output', detail: 'x' }, {}, 'failed', 'output-limit'],
    [{ kind: 'cancelled' }, {}, 'cancelled', 'cancelled'],
    [{ kind: 'exception', message: 'boom' }, {}, 'failed', 'exception'],
    [{ kind: 'refused', code: 'isolation-missing', detail: 'x' }, {}, 'failed', 'isolation-missing'],
    [{ kind: 'refused', code: 'permission-needed', detail: 'x' }, {}, 'blocked', 'permission-needed'],
    [{ kind: 'refused', code: 'interpreter-missing', detail: 'x' }, {}, 'failed', 'interpreter-missing'],
    [{ kind: 'refused', code: 'disk-full', detail: 'x' }, {}, 'failed', 'disk-full'],
    [{ kind: 'refused', code: 'unsafe-path', detail: 'x' }, {}, 'failed', 'bad-card'],
    [{ kind: 'refused', code: 'bad-input', detail: 'x' }, {}, 'failed', 'bad-card'],
    [{ kind: 'refused', code: 'internal', detail: 'x' }, {}, 'failed', 'internal'],
    [{ kind: 'unknown', detail: 'x' }, {}, 'unknown', 'interrupted'],
  ];
  for (const [outcome, over, state, kind] of table) {
    it(`[FLOW-17] ${JSON.stringify(outcome)} ${Object.keys(over).join(' ')} is ${state}`, () => {
      const ending = end(outcome, over);
      assert.equal(ending.state, state);
      assert.equal(ending.reason?.kind ?? null, kind);
      assert.equal(ending.exitCode, outcome.kind === 'exited' ? outcome.exitCode : null);
    });
  }

  it('keeps the remedy of a refusal, and names the limit to raise', () => {
    const refused = end({ kind: 'refused', code: 'isolation-missing', detail: 'x', remedy: 'Install it.' });
    assert.equal(refused.reason?.remedy, 'Install it.');
    assert.match(end({ kind: 'limit', limit: 'memory', detail: 'x' }).reason?.remedy ?? '', /memoryMB/);
  });

  it('says what ended a card, and what can be done', () => {
    const words = (
      outcome: JobOutcome,
      over: Partial<JobResult> = {},
      of: Parameters<typeof toEnding>[1] = card,
    ) => {
      const { reason } = toEnding({ ...endedWith(outcome), ...over }, of);
      return `${reason?.detail} | ${reason?.remedy ?? ''}`;
    };
    const exited = (exitCode: number): JobOutcome => ({ kind: 'exited', exitCode });
    const problem = (detail: string) => ({
      outputProblems: [
        { port: 'out', kind: /not there/.test(detail) ? 'missing' : 'not-regular', detail } as const,
      ],
    });
    assert.equal(words(exited(3)), 'it ended with exit code 3 | Its log may say why.');
    assert.match(
      words(exited(126)),
      /^it ended with exit code 126: a program could not be started \|.*chmod \+x/,
    );
    assert.match(words(exited(127)), /^it ended with exit code 127: a program was not found \|/);
    assert.equal(words(exited(0)), 'output “out” was not written | ');
    assert.equal(words(exited(0), problem('out: not there')), 'output “out” was not written | ');
    assert.equal(words(exited(0), problem('out/a: a link')), 'output “out”: out/a: a link | ');
    assert.equal(words(exited(0), problem('out: a link')), 'output “out”: a link | ');
    const limit = (name: 'memory' | 'processes' | 'output'): JobOutcome => ({
      kind: 'limit',
      limit: name,
      detail: '80 of 64',
    });
    assert.match(
      words(limit('memory')),
      /^it reached its limit of memory: 80 of 64 \| Raise “limits.memoryMB”/,
    );
    assert.match(words(limit('processes')), /^it reached its limit of processes: 80 of 64 \|/);
    assert.match(
      words(limit('output')),
      /^it reached its limit of output: 80 of 64 \| Raise “limits.outputMB”/,
    );
    assert.match(
      words(limit('memory'), {}, { ...card, runtime: 'js' }),
      /\| Raise .* for a js card up to 64, or/,
    );
  });

  it('[FLOW-09] a place that was lost is neither success nor failure', () => {
    assert.equal(lostEnding(new Error('gone')).state, 'unknown');
    assert.equal(lostEnding(new UserError('closed', 'gone')).state, 'unknown');
    assert.equal(lostEnding(new UserError('isolation-missing', 'no')).reason?.kind, 'isolation-missing');
  });
});

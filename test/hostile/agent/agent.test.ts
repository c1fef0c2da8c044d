import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { buildPrograms } from '../../support/builtPrograms.ts';
import { readCases, type Case, type Ending } from './case.ts';
import { Range, type CallReport, type Report } from './range.ts';

const controls = {
  allowed: 'where the person says yes (control)',
  ungated: 'without the gate (control)',
  naive: 'with a tool that checks nothing (control)',
} as const;

describe('hostile agent', () => {
  let built = '';
  before(async () => {
    built = await buildPrograms();
  });
  after(() => rmSync(built, { recursive: true, force: true }));

  for (const attack of readCases()) {
    it(`${attack.id}: ${attack.title} [ATTACK-01]`, async () => {
      const { report, filled } = await withRange(attack, join(built, 'dist'), (range) => range.gated());
      for (const [index, call] of filled.calls.entries()) {
        const seen = report.calls[index];
        assert.ok(seen);
        judge(call.must, seen, `call ${index + 1} of ${attack.id}: ${JSON.stringify(seen, null, 1)}`);
      }
      assert.deepEqual(report.changed, filled.must.changed);
      assert.equal(report.contacts, 0, 'The listener was reached.');
    });

    it(`${attack.id}: works ${controls[attack.control.how]}`, async () => {
      const { report, filled } = await withRange(attack, join(built, 'dist'), (range) => range.control());
      const { control } = filled;
      const told = JSON.stringify(report, null, 1);
      for (const path of control.changed ?? [])
        assert.ok(report.changed.includes(path), `${path} is as it was: ${told}`);
      if (control.contact) assert.ok(report.contacts > 0, `Nothing reached the listener: ${told}`);
      for (const text of control.tells ?? [])
        assert.ok(
          report.calls.some(({ result }) => result.text.includes(text)),
          `The model is not told ${text}: ${told}`,
        );
    });
  }
});

async function withRange(
  attack: Case,
  programs: string,
  use: (range: Range) => Promise<Report>,
): Promise<{ report: Report; filled: Case }> {
  const range = await Range.open(attack, programs);
  try {
    return { report: await use(range), filled: range.attack };
  } finally {
    await range.close();
  }
}

function judge(must: Ending, { shown, result }: CallReport, about: string): void {
  assert.equal(shown?.rule.id, must.asks, about);
  assert.equal(result.state, must.state, about);
  assert.equal(result.refusal ?? undefined, must.code, about);
  const prompt = shown
    ? [shown.title, ...shown.lines, shown.fullText ?? '', ...shown.targets.map(({ name }) => name)].join('\n')
    : '';
  for (const text of must.shows ?? []) assert.ok(prompt.includes(text), `The prompt hides ${text}: ${about}`);
  if (must.isFlagged !== undefined) assert.equal(shown?.isFlagged, must.isFlagged, about);
  if (must.mustBeRead !== undefined) assert.equal((shown?.fullText ?? null) !== null, must.mustBeRead, about);
  for (const text of must.tells ?? [])
    assert.ok(result.text.includes(text), `It does not tell ${text}: ${about}`);
  for (const text of must.hides ?? []) assert.ok(!result.text.includes(text), `It tells ${text}: ${about}`);
}

import assert from 'node:assert/strict';
import { readAttacks, type Attack, type ExpectedOutcome } from './attack.ts';
import { routesIn, type Evidence } from './evidence.ts';
import { casesOfCards, casesElsewhere } from './cases.ts';
import type { PlainReport } from './plainRun.ts';
import type { SealedReport } from './sealedRun.ts';
import { openRange, type Range } from './range.ts';

const attacks = readAttacks();

describe('hostile cards', function () {
  this.timeout(120_000);
  let range: Range;
  const runs = new Map<string, { sealed: Promise<SealedReport>; plain: Promise<PlainReport> }>();

  before(async function () {
    range = await openRange();
    if (range.client.hello.isolation.kind === 'none')
      throw new Error(
        `There is no isolation here, so nothing can be shown: ${JSON.stringify(range.client.hello.isolation.checks)}`,
      );
    for (const attack of attacks) {
      const run = { sealed: range.sealed(attack), plain: range.plain(attack) };
      run.sealed.catch(() => undefined);
      run.plain.catch(() => undefined);
      runs.set(attack.name, run);
    }
  });

  after(async () => {
    await range.close();
  });

  for (const attack of attacks) {
    it(`${attack.name}: ${attack.title} [HOSTILE-01]`, async () => {
      const { outcome, report, evidence, held, log } = await runs.get(attack.name)!.sealed;
      const told = `\n${log.slice(0, 3000)}\n${JSON.stringify(outcome)}`;
      assert.deepEqual(evidence, [], `The attack worked.${told}`);
      assert.ok(
        attack.sealed.outcome.some((expected) => fits(outcome, expected)),
        `It ended in another way than ${JSON.stringify(attack.sealed.outcome)}.${told}`,
      );
      if (outcome.kind === 'exited') {
        for (const route of Object.keys(attack.routes))
          assert.ok(held.has(route), `It did not say what became of the route ${route}.${told}`);
      }
      for (const [port, kinds] of Object.entries(attack.sealed.problems ?? {})) {
        const problems = report?.result.outputProblems ?? [];
        assert.ok(
          problems.some((problem) => problem.port === port && kinds.includes(problem.kind)),
          `The output ${port} was not reported as ${kinds.join(' or ')}: ${JSON.stringify(problems)}${told}`,
        );
      }
      if (attack.sealed.logCut)
        assert.ok((report?.result.logCutBytes ?? 0) > 0, `No log was left out.${told}`);
      for (const host of attack.sealed.refusedHosts ?? []) {
        assert.ok(
          report?.egress.some((record) => record.host === host && record.verdict === 'refused'),
          `The egress log has no refusal of ${host}: ${JSON.stringify(report?.egress)}${told}`,
        );
      }
    });

    it(`${attack.name}: works with the protection off`, async () => {
      const { evidence, log } = await runs.get(attack.name)!.plain;
      for (const missing of missingFrom(attack, evidence, log))
        assert.fail(
          `The control proves nothing: ${missing}.\n${JSON.stringify(evidence)}\n${log.slice(0, 3000)}`,
        );
    });
  }

  it('leave no damaged result, no message that fits no job and an empty scratch folder [HOSTILE-02]', async () => {
    await Promise.allSettled([...runs.values()].flatMap((run) => [run.sealed, run.plain]));
    assert.deepEqual(range.client.strays, []);
    assert.deepEqual(await range.leftInScratch(), []);
  });
});

describe('public reports', () => {
  it('each one that concerns a card is attacked by at least one fixture', () => {
    const covered = new Set(attacks.flatMap((attack) => attack.cases));
    assert.deepEqual(
      casesOfCards.map((each) => each.id).filter((id) => !covered.has(id) && !casesElsewhere.has(id)),
      [],
    );
  });

  it('are the only ones that a fixture names', () => {
    const known = new Set(casesOfCards.map((each) => each.id));
    assert.deepEqual(
      attacks.flatMap((attack) =>
        attack.cases.filter((id) => !known.has(id)).map((id) => `${attack.name}: ${id}`),
      ),
      [],
    );
  });
});

function fits(outcome: object, expected: ExpectedOutcome): boolean {
  return Object.entries(expected).every(
    ([key, value]) => (outcome as Record<string, unknown>)[key] === value,
  );
}

/** What the control was to show and did not. A route that says why it may fail is only asked for where it worked. */
function missingFrom(attack: Attack, evidence: readonly Evidence[], log: string): string[] {
  const got = new Set(routesIn(log).flatMap((route) => (route.got ? [route.name] : [])));
  return [
    ...Object.entries(attack.routes)
      .filter(([name, mayFail]) => mayFail === '' && !got.has(name))
      .map(([name]) => `the route ${name} led nowhere`),
    ...(attack.proofs ?? [])
      .filter((proof) => !evidence.some((each) => each.proof === proof))
      .map((proof) => `no evidence of the kind ${proof}`),
    ...(evidence.length === 0 ? ['there is no evidence at all'] : []),
  ];
}

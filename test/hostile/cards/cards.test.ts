import assert from 'node:assert/strict';
import { readAttacks, type Attack, type ExpectedOutcome } from './attack.ts';
import { routesIn, type Evidence } from './evidence.ts';
import { casesOfCards, casesElsewhere } from './cases.ts';
import type { PlainReport } from './plainRun.ts';
import type { SealedReport } from './sealedRun.ts';
import { openRange, type Range } from './range.ts';

const attacks = readAttacks();

interface AttackRun {
  readonly sealed: Promise<SealedReport>;
  readonly plain: Promise<PlainReport>;
}

/** How many attacks are started before the one that is being judged has ended. */
const ahead = 4;

describe('hostile cards', () => {
  let range: Range | undefined;
  const runs = new Map<string, AttackRun>();

  before(async function () {
    range = await openRange();
    if (range.client.hello.isolation.kind === 'none')
      throw new Error(
        `There is no isolation here, so nothing can be shown: ${JSON.stringify(range.client.hello.isolation.checks)}`,
      );
  });

  /** Starts an attack and the few after it, so that some are always going on. */
  function runOf(attack: Attack): AttackRun {
    assert.ok(range);
    const at = attacks.indexOf(attack);
    for (const each of attacks.slice(at, at + ahead)) {
      if (runs.has(each.name)) continue;
      const run = { sealed: range.sealed(each), plain: range.plain(each) };
      run.sealed.catch(() => undefined);
      run.plain.catch(() => undefined);
      runs.set(each.name, run);
    }
    return runs.get(attack.name)!;
  }

  async function allEnded(): Promise<void> {
    await Promise.allSettled([...runs.values()].flatMap((run) => [run.sealed, run.plain]));
  }

  after(async () => {
    await allEnded();
    await range?.close();
  });

  for (const attack of attacks) {
    it(`${attack.name}: ${attack.title} [HOSTILE-01]`, async () => {
      const { outcome, report, evidence, held, log } = await runOf(attack).sealed;
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

    it(`${attack.name}: works with the protection off`, async function () {
      if (attack.control === 'root' && process.getuid?.() !== 0) {
        console.log(`      (left out: only root can show that ${attack.name} would work)`);
        this.skip();
      }
      const { evidence, log } = await runOf(attack).plain;
      for (const missing of missingFrom(attack, evidence, log))
        assert.fail(
          `The control proves nothing: ${missing}.\n${JSON.stringify(evidence)}\n${log.slice(0, 3000)}`,
        );
    });
  }

  it('leave no damaged result, no message that fits no job and an empty scratch folder [HOSTILE-02]', async () => {
    assert.ok(range);
    await allEnded();
    assert.deepEqual(range.client.strays, []);
    assert.deepEqual(await range.close(), []);
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

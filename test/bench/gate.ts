import { grantKinds } from '../../protocol/src/gate.ts';
import { GateHarness, makeAct } from '../support/gateHarness.ts';
import { limitRow, median, type BenchRow } from './benchRow.ts';

const grants = 10_000;
const rounds = 2_000;

/** The gate over a database with 10,000 grants: one decision, and the two ends of a question. */
export async function gateBench(): Promise<BenchRow[]> {
  const harness = new GateHarness();
  try {
    const { scope } = makeAct();
    harness.database.transaction(() => {
      for (let index = 0; index < grants; index++) {
        harness.gate.give({
          scope,
          kind: grantKinds[index % grantKinds.length] ?? 'read',
          conversation: `c${index % 100}`,
          folder: `src/module-${index}`,
        });
      }
    });
    return [
      limitRow(
        {
          group: 'gate',
          name: `one decision among ${grants} grants`,
          ours: (await decisionMs(harness)) * 1000,
          unit: 'µs',
        },
        50,
      ),
      ...(await questionRows(harness)),
    ];
  } finally {
    harness.close();
  }
}

/** `tryOut` is a decision with its measuring and describing, which cost nothing here. */
async function decisionMs(harness: GateHarness): Promise<number> {
  const times: number[] = [];
  const act = makeAct({ conversation: 'c1' });
  for (let round = 0; round < rounds; round++) {
    const startedAt = performance.now();
    await harness.gate.tryOut(act);
    times.push(performance.now() - startedAt);
  }
  return median(times);
}

async function questionRows(harness: GateHarness): Promise<BenchRow[]> {
  const asked: number[] = [];
  const begun: number[] = [];
  for (let round = 0; round < 100; round++) {
    const calledAt = performance.now();
    let begunAt = 0;
    const result = harness.gate.pass(
      makeAct({ opId: `bench-${round}` }),
      async () => {
        begunAt = performance.now();
        return null;
      },
      new AbortController().signal,
    );
    while (harness.gate.waiting().length === 0) await Promise.resolve();
    asked.push(performance.now() - calledAt);
    const answeredAt = performance.now();
    harness.answer('allow-once');
    await result;
    begun.push(begunAt - answeredAt);
  }
  return [
    limitRow(
      {
        group: 'gate',
        name: 'a call until its question waits in the engine',
        ours: median(asked),
        unit: 'ms',
      },
      100,
    ),
    limitRow(
      { group: 'gate', name: 'an answer until the effect begins', ours: median(begun), unit: 'ms' },
      50,
    ),
  ];
}

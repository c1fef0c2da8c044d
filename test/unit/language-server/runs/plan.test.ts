import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import type { PlannedCard } from '../../../../protocol/src/engine.ts';
import { endedWith } from '../../../support/fakeRunner.ts';
import { inputsFrom, writeCard, writeProject, type CardDraft } from '../../../support/projectFolder.ts';
import { never, statesOf, TestEngine } from '../../../support/testEngine.ts';

/** A card of a made-up project, and what happens to it between two runs. */
interface Made {
  readonly needs: readonly number[];
  readonly fails: boolean;
  readonly asks: boolean;
  readonly change: 'none' | 'code' | 'title' | 'asks' | 'broken';
}

const projects = fc.array(
  fc.record<Made>({
    needs: fc.array(fc.nat(6), { maxLength: 3 }),
    fails: fc.boolean(),
    asks: fc.integer({ min: 0, max: 5 }).map((value) => value === 0),
    change: fc.constantFrom('none', 'none', 'none', 'code', 'title', 'asks', 'broken'),
  }),
  { minLength: 1, maxLength: 7 },
);

/** What a planned action allows the run to come to. */
const allowed: Readonly<Record<PlannedCard['action'], RegExp>> = {
  cached: /^done\*$/,
  run: /^(done|failed)$/,
  depends: /^(done|done\*|failed|skipped)$/,
  blocked: /^blocked$/,
  refused: /^failed$/,
  skipped: /^skipped$/,
};

describe('plan', () => {
  it('[FLOW-13] says of every card what the run then does, whatever the graph and the changes', async () => {
    await fc.assert(
      fc.asyncProperty(projects, async (made) => {
        const folder = mkdtempSync(join(tmpdir(), 'sallyport-plan-'));
        const draft = ({ needs, asks }: Made, at: number): CardDraft => ({
          inputs: inputsFrom(...new Set(at === 0 ? [] : needs.map((need) => `c${need % at}`))),
          ...(asks ? { permissions: { network: ['example.org'] } } : {}),
        });
        const root = writeProject(
          join(folder, 'project'),
          Object.fromEntries(made.map((card, at) => [`c${at}`, draft(card, at)])),
        );
        const engine = new TestEngine(join(folder, 'home'), root);
        try {
          await engine.run();
          for (const [at, card] of made.entries()) {
            const id = `c${at}`;
            if (card.fails) engine.runner.behave(id, () => endedWith({ kind: 'exited', exitCode: 1 }));
            const changed = { ...draft(card, at), ...changes[card.change] };
            if (card.change !== 'none') writeCard(root, id, changed);
          }
          engine.runner.takeRun();
          const { cards } = await engine.handlers['run/dryRun']({ root }, never);
          assert.deepEqual(engine.runner.takeRun(), []);
          const states = statesOf(await engine.run());
          assert.deepEqual(Object.keys(states).sort(), cards.map(({ id }) => id).sort());
          for (const { id, action } of cards)
            assert.match(states[id] ?? '', allowed[action], `${id} ${action}`);
          const ran = new Set(engine.runner.takeRun());
          for (const [id, state] of Object.entries(states)) {
            assert.equal(
              ran.has(id),
              state === 'done' || (state === 'failed' && ran.has(id)),
              `${id} ${state}`,
            );
          }
        } finally {
          await engine.dispose();
          rmSync(folder, { recursive: true });
        }
      }),
      { numRuns: 25 },
    );
  });
});

const changes: Readonly<Record<Made['change'], CardDraft>> = {
  none: {},
  code: { code: 'print("changed")\n' },
  title: { title: 'Other words' },
  asks: { permissions: { network: true } },
  broken: { entry: 'gone.py' },
};

import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { KeyPartChange, PlannedCard } from '../../../protocol/src/engine.ts';
import { judge, needsOf, obstacleTo, resolveInputs, type JudgeContext, type Verdict } from './judge.ts';
import { Schedule } from './schedule.ts';
import type { FrozenCard } from './snapshot.ts';

/** Why this verdict is to run and not to reuse. */
export type Why = (card: FrozenCard, verdict: Extract<Verdict, { kind: 'run' }>) => KeyPartChange[];

/**
 * What a run would do with each card, in the snapshot's order. A card below one that would run `depends` on it: its
 * key is known only when its inputs are. Pure over its arguments.
 */
export function planCards(cards: readonly FrozenCard[], context: JudgeContext, why: Why): PlannedCard[] {
  const planned = new Map<string, PlannedCard>();
  const produced = new Map<string, ReadonlyMap<string, ArtifactRef>>();
  const byId = new Map(cards.map((card) => [card.id, card]));
  const schedule = new Schedule(cards.map((card) => ({ id: card.id, needs: needsOf(card) })));
  const stop = (entries: readonly PlannedCard[]) => {
    for (const entry of entries) planned.set(entry.id, entry);
    for (const { id, because } of schedule.fail(entries.map((entry) => entry.id))) {
      planned.set(id, skipped(id, `it needs “${because}”, which does not run`));
    }
  };
  stop(
    cards.flatMap((card) => {
      const refusal = obstacleTo(card, context);
      return refusal ? [{ id: card.id, action: refusal.kind, why: [], reason: refusal.reason }] : [];
    }),
  );
  const plan = (card: FrozenCard) => {
    if (needsOf(card).some((need) => planned.has(need) && !produced.has(need))) {
      planned.set(card.id, { id: card.id, action: 'depends', why: [], reason: null });
      schedule.succeed(card.id);
      return;
    }
    const resolved = resolveInputs(card, produced);
    if ('missing' in resolved) {
      stop([
        skipped(card.id, `its source ${resolved.missing.card}/${resolved.missing.port} was not written`),
      ]);
      return;
    }
    const verdict = judge(card, resolved.inputs, context);
    if (verdict.kind === 'blocked' || verdict.kind === 'refused') {
      stop([{ id: card.id, action: verdict.kind, why: [], reason: verdict.reason }]);
      return;
    }
    if (verdict.kind === 'cached') {
      produced.set(card.id, new Map(verdict.result.outputs.map(({ port, artifact }) => [port, artifact])));
      planned.set(card.id, { id: card.id, action: 'cached', why: [], reason: null });
    } else planned.set(card.id, { id: card.id, action: 'run', why: why(card, verdict), reason: null });
    schedule.succeed(card.id);
  };
  for (let ready = schedule.takeReady(); ready.length > 0; ready = schedule.takeReady()) {
    for (const id of ready) {
      const card = byId.get(id);
      if (card) plan(card);
    }
  }
  return cards.flatMap((card) => planned.get(card.id) ?? []);
}

function skipped(id: string, detail: string): PlannedCard {
  return { id, action: 'skipped', why: [], reason: { kind: 'upstream', detail } };
}

import type { ArtifactRef } from '../../../protocol/src/artifacts.ts';
import type { Reason } from '../../../protocol/src/engine.ts';
import { permissionSentence, widening } from '../../../protocol/src/permissions.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import type { AcceptedByCard } from '../permissions/review.ts';
import type { StoredResult } from '../store/resultRecords.ts';
import { keyOf, unkeyedSource, type KeyEnvironment, type KeyInput, type KeyParts } from './cacheKey.ts';
import type { FrozenCard, Source } from './snapshot.ts';

/** Where cards run. */
export interface RunPlace {
  readonly environment: KeyEnvironment;
  /** Why nothing but `js` cards can run here; null where all can. */
  readonly sealedFault: Reason | null;
  readonly interpreters: ReadonlySet<string>;
}

/** What a verdict depends on besides the card and its inputs. */
export interface JudgeContext {
  readonly isTrusted: boolean;
  readonly accepted: AcceptedByCard;
  readonly placeOf: (card: FrozenCard) => RunPlace;
  /** A result for this key whose outputs are all still there. */
  readonly find: (key: string) => StoredResult | undefined;
  readonly ignoresCache: (card: string) => boolean;
}

/** Whether a card may run, from its frozen permissions and what was accepted. Asked at the start and before each job. */
export type Obstacle =
  | { readonly kind: 'blocked'; readonly reason: Reason }
  | { readonly kind: 'refused'; readonly reason: Reason }
  | null;

export type Verdict =
  | NonNullable<Obstacle>
  | { readonly kind: 'cached'; readonly key: string; readonly result: StoredResult }
  | { readonly kind: 'run'; readonly key: string; readonly parts: KeyParts; readonly ignored: string | null };

/** Decides about one card whose inputs are known. */
export function judge(card: FrozenCard, inputs: readonly KeyInput[], context: JudgeContext): Verdict {
  const stop = obstacleTo(card, context);
  if (stop) return stop;
  const { key, parts } = keyOf(card, inputs, context.placeOf(card).environment);
  const ignored = context.ignoresCache(card.id) ? 'the cache was to be ignored' : unkeyedSource(card);
  const result = ignored === null ? context.find(key) : undefined;
  return result ? { kind: 'cached', key, result } : { kind: 'run', key, parts, ignored };
}

/** Null only where nothing speaks against running. */
export function obstacleTo(
  card: FrozenCard,
  context: Pick<JudgeContext, 'isTrusted' | 'accepted' | 'placeOf'>,
): Obstacle {
  return obstacleAnywhere(card, context) ?? obstacleThere(card, context);
}

/** What speaks against running a card whatever its place says. */
export function obstacleAnywhere(
  card: FrozenCard,
  { isTrusted, accepted }: Pick<JudgeContext, 'isTrusted' | 'accepted'>,
): Obstacle {
  if (!isTrusted) {
    return {
      kind: 'blocked',
      reason: {
        kind: 'permission-needed',
        detail: 'nothing runs in an untrusted workspace',
        remedy: 'Trust the workspace first.',
      },
    };
  }
  if (card.fault) return { kind: 'refused', reason: card.fault };
  const unanswered = widening(accepted.get(card.id) ?? [], card.asked);
  if (unanswered.length > 0) {
    return {
      kind: 'blocked',
      reason: {
        kind: 'permission-needed',
        detail: unanswered.map(permissionSentence).join('; '),
        remedy: 'Review what it asks for (Sallyport: Review Permissions).',
      },
    };
  }
  return null;
}

function obstacleThere(card: FrozenCard, { placeOf }: Pick<JudgeContext, 'placeOf'>): Obstacle {
  if (card.runtime === 'js') return null;
  const place = placeOf(card);
  if (place.sealedFault) return { kind: 'refused', reason: place.sealedFault };
  if ((card.runtime === 'python' || card.runtime === 'node') && !place.interpreters.has(card.runtime)) {
    return {
      kind: 'refused',
      reason: {
        kind: 'interpreter-missing',
        detail: `there is no ${names[card.runtime]} on ${card.place === localPlace ? 'this machine' : card.place}`,
        remedy: `Install ${names[card.runtime]}, then run it again.`,
      },
    };
  }
  return null;
}

const names = { python: 'Python', node: 'Node.js' };

/** What the cards upstream wrote, by card and port. */
export type Produced = ReadonlyMap<string, ReadonlyMap<string, ArtifactRef>>;

/** The inputs that there are, or the first source that was promised and not written. */
export function resolveInputs(
  card: FrozenCard,
  produced: Produced,
): { inputs: KeyInput[] } | { missing: Source } {
  const inputs: KeyInput[] = [];
  for (const { port, from, optional } of card.inputs) {
    if (!from) continue;
    const artifact = produced.get(from.card)?.get(from.port);
    if (artifact) inputs.push({ port, artifact });
    else if (!optional) return { missing: from };
  }
  return { inputs };
}

/** Cards whose results this one takes. */
export function needsOf(card: FrozenCard): string[] {
  return [...new Set(card.inputs.flatMap(({ from }) => (from ? [from.card] : [])))];
}

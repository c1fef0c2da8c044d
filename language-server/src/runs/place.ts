import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Reason } from '../../../protocol/src/engine.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { localPlace } from '../../../protocol/src/places.ts';
import type { IsolationReport } from '../../../protocol/src/runner.ts';
import type { LocalRunner, RunnerInfo } from '../runners/local.ts';
import type { PlaceRunner } from '../runners/places/placeRunner.ts';
import type { KeyEnvironment } from './cacheKey.ts';
import type { RunPlace } from './judge.ts';
import type { FrozenCard } from './snapshot.ts';

export interface PlaceOptions {
  readonly runner: Pick<LocalRunner, 'ready'>;
  /** Any other place. Throws for one that there is none of. */
  readonly elsewhere: (id: string) => Pick<PlaceRunner, 'ready'>;
  /** The files that `js` cards run on: another QuickJS is another environment. */
  readonly jsFiles: readonly string[];
}

/** The places of a run's cards. */
export interface RunPlaces {
  /** What a card finds where it runs; nothing where its place was not asked or has not answered. */
  of(card: FrozenCard): RunPlace;
  /** Settles when the card's place has answered, whatever it said; undefined where there is nothing to wait for. */
  awaits(card: FrozenCard): Promise<void> | undefined;
  /** Settles when every place has answered. */
  readonly all: Promise<void>;
}

/**
 * Describes where cards run: each place that the given cards run at is asked, side by side, and so started or connected
 * to. This machine is waited for, and whatever is connected has answered by then; no other place holds up the rest.
 */
export function createPlaces({
  runner,
  elsewhere,
  jsFiles,
}: PlaceOptions): (cards: readonly FrozenCard[]) => Promise<RunPlaces> {
  let jsEnvironment: KeyFacts | undefined;
  const sealedEnvironments = new WeakMap<RunnerInfo, Map<string, KeyFacts>>();
  const js = () => (jsEnvironment ??= { engine: versionOf(jsFiles) });
  const sealed = (info: RunnerInfo, runtime: string) => {
    const known = sealedEnvironments.get(info) ?? new Map<string, KeyFacts>();
    const environment = known.get(runtime) ?? describe(info, runtime);
    sealedEnvironments.set(info, known.set(runtime, environment));
    return environment;
  };
  const look = async (id: string): Promise<RunPlace> => {
    const info = await (id === localPlace ? ask(runner) : askElsewhere(() => elsewhere(id)));
    const isThere = 'version' in info;
    return {
      environment: (runtime) => (runtime === 'js' ? js() : isThere ? sealed(info, runtime) : nowhere),
      sealedFault: isThere ? isolationFault(info.isolation) : info.fault,
      interpreters: new Set(isThere ? info.interpreters.map((each) => each.runtime) : []),
    };
  };
  const unasked: RunPlace = {
    environment: (runtime) => (runtime === 'js' ? js() : nowhere),
    sealedFault: null,
    interpreters: new Set(),
  };
  return async (cards) => {
    const found = new Map<string, RunPlace>();
    const asked = new Map<string, Promise<void>>();
    for (const id of new Set(cards.map(({ place }) => place))) {
      const answer = look(id).then((place) => {
        found.set(id, place);
        asked.delete(id);
      });
      asked.set(id, answer);
    }
    const all = Promise.all(asked.values()).then(() => undefined);
    await asked.get(localPlace);
    await Promise.race([all, nextTurn()]);
    return {
      all,
      of: ({ place }) => found.get(place) ?? unasked,
      awaits: ({ runtime, place }) => (runtime === 'js' ? undefined : asked.get(place)),
    };
  };
}

type KeyFacts = ReturnType<KeyEnvironment>;
const nowhere: KeyFacts = {};

/** Why sealed cards can't run on a machine with this report, with what mends it; null where they can. */
export function isolationFault(report: IsolationReport): Reason | null {
  if (report.kind !== 'none') return null;
  const failed = report.checks.filter(({ ok }) => !ok);
  const remedies = failed.flatMap(({ remedy }) => remedy ?? []);
  return {
    kind: 'isolation-missing',
    detail:
      failed.map(({ title, detail }) => `${title}: ${detail}`).join('; ') ||
      'this machine can’t seal a process',
    remedy: remedies.join(' ') || 'Only js cards run here.',
  };
}

async function ask(runner: Pick<LocalRunner, 'ready'>): Promise<RunnerInfo | { fault: Reason }> {
  try {
    return await runner.ready();
  } catch (error) {
    const remedy = 'See Sallyport: Doctor.';
    return { fault: { kind: 'isolation-missing', detail: errorMessage(error), remedy } };
  }
}

async function askElsewhere(find: () => Pick<PlaceRunner, 'ready'>): Promise<RunnerInfo | { fault: Reason }> {
  try {
    return await find().ready();
  } catch (error) {
    const remedy = error instanceof UserError ? error.data['remedy'] : undefined;
    const told = typeof remedy === 'string' ? { remedy } : {};
    return { fault: { kind: 'place', detail: errorMessage(error), ...told } };
  }
}

function describe(info: RunnerInfo, runtime: string): KeyFacts {
  const interpreter = info.interpreters.find((each) => each.runtime === runtime);
  return {
    platform: info.platform,
    helper: info.version,
    ...(interpreter ? { interpreter: `${interpreter.path} ${interpreter.version}` } : {}),
  };
}

function versionOf(files: readonly string[]): string {
  return hash('sha256', files.map((file) => hash('sha256', readFileSync(file))).join(' ')).slice(0, 16);
}

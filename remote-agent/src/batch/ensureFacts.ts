import { randomBytes } from 'node:crypto';
import { basename } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { canonicalJson } from '../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import type { BatchFolder, NodeFacts } from './batchFolder.ts';
import { describeTask } from './batchOutcome.ts';
import type { BatchSystem, BatchTask } from './batchSystem.ts';

export interface EnsureFactsOptions {
  readonly folder: BatchFolder;
  readonly system: BatchSystem;
  /** The runner's file in the shared folder. */
  readonly program: string;
  readonly script: (name: string) => string;
  /** True where what is known does not count. */
  readonly isAnew: boolean;
  readonly now: () => number;
  /** What is waited for, for a person. */
  readonly onStep: (step: string) => void;
  readonly signal: AbortSignal;
}

/** What was found counts for so long. */
const freshMs = 7 * 24 * 60 * 60 * 1000;
const probePrefix = 'sallyport-probe-';
const firstPollMs = 200;
const longestPollMs = 5000;

/**
 * What cards find on a node, from the first job that ran there: it waits in the queue as any other. A missing isolation
 * is not remembered, for somebody may mend it. Throws `unreachable` where the batch system doesn't answer, and
 * `incompatible` in the words of the node where the job ends without having found anything.
 */
export async function ensureFacts(options: EnsureFactsOptions): Promise<NodeFacts> {
  const { folder, system, program, now, onStep, signal } = options;
  const known = folder.facts();
  const isSame = known?.program === basename(program) && known.chosen === system.chosen;
  const isKnown = isSame && now() - known.at < freshMs;
  if (isKnown && known.isolation.kind !== 'none' && !options.isAnew) return known;
  // Another connection may be waiting for what stands there: it is replaced, and removed only where it proves wrong.
  const found = () => {
    const facts = folder.facts();
    return facts && canonicalJson(facts) !== canonicalJson(known ?? null) ? facts : undefined;
  };
  const name = (await waitingProbe(folder, system)) ?? (await submitProbe(options));
  let absent = 0;
  for (let waitMs = firstPollMs; ; waitMs = Math.min(1.5 * waitMs, longestPollMs)) {
    await wait(waitMs, undefined, { signal });
    const tasks = await system.states([name]);
    const facts = found();
    if (facts) {
      folder.removeSubmit(name, []);
      return facts;
    }
    const live = tasks.find(({ end }) => end === undefined);
    onStep(`The first job there: ${describeTask(live, system.title)}`);
    if (live) absent = 0;
    else if (++absent >= 3) {
      folder.removeFacts();
      throw failed(folder, system, name, tasks.at(-1));
    }
  }
}

/** A probe that an earlier connection asked for and that waits still. */
async function waitingProbe(folder: BatchFolder, system: BatchSystem): Promise<string | undefined> {
  const names = folder.submitNames().filter((name) => name.startsWith(probePrefix));
  if (names.length === 0) return undefined;
  const live = new Set(
    (await system.states(names)).filter(({ end }) => end === undefined).map(({ name }) => name),
  );
  for (const name of names) if (!live.has(name)) folder.removeSubmit(name, []);
  return names.find((name) => live.has(name));
}

async function submitProbe({ folder, system, script, now }: EnsureFactsOptions): Promise<string> {
  const name = `${probePrefix}${randomBytes(8).toString('hex')}`;
  const limits = { ...defaultCardLimits, seconds: 60, memoryMB: 200 };
  folder.writeSubmit({
    version: 1,
    name,
    engine: '',
    limits,
    acceptedAt: now(),
    expects: null,
    jobs: [],
    chosen: system.chosen,
  });
  const answer = await system.submit({ name, count: 1, limits, waitSeconds: 0, script: script(name) });
  if (answer.kind !== 'refused') return name;
  folder.removeSubmit(name, []);
  throw new UserError('incompatible', `${system.title} refused a first job: ${answer.detail}`, {
    remedy: system.advice.refused,
  });
}

function failed(
  folder: BatchFolder,
  system: BatchSystem,
  name: string,
  task: BatchTask | undefined,
): UserError {
  const said = folder.saidOf(name, 0).trim().slice(-600);
  folder.removeSubmit(name, []);
  return new UserError(
    'incompatible',
    `The first job ended (${task?.word ?? `${system.title} does not say how`}) and found nothing${said === '' ? '' : `. It said: ${said}`}`,
    {
      remedy: `Compute nodes must see the folder ${folder.path} and have Node.js. ${system.advice.otherFolder}`,
    },
  );
}

import * as z from 'zod/mini';
import type { PlannedCard } from '../../../../protocol/src/engine.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Target } from '../../../../protocol/src/gate.ts';
import { resolvePath } from '../../gate/paths.ts';
import type { LoadedProject } from '../../project/model.ts';
import { about, defineTool } from './defineTool.ts';
import type { RunToolDeps } from './runServices.ts';
import { tellRun } from './tellRun.ts';
import type { Tool } from './tool.ts';

const defaultWaitSeconds = 120;

const runInput = z.strictObject({
  cards: z.optional(
    about(
      'Ids of cards to run, with what they need; leave it out for all cards.',
      z.array(z.string().check(z.minLength(1), z.maxLength(64))).check(z.minLength(1), z.maxLength(1000)),
    ),
  ),
  ignoreCache: z.optional(about('Run the named cards though a result is there.', z.boolean())),
  waitSeconds: z.optional(
    about(
      `How long to wait for the end, 1 to 600; ${defaultWaitSeconds} where left out. The run goes on after it.`,
      z.int().check(z.minimum(1), z.maximum(600)),
    ),
  ),
});

/** `run_cards`: a run like a person's, through the same service. It accepts no permission and can't. */
export function runCardsTool(deps: RunToolDeps): Tool {
  return defineTool({
    name: 'run_cards',
    description:
      'Runs cards of the project sealed, with the cards they depend on, and answers with each card’s state, exit code, reason, and time running and waiting. Unchanged cards come from the cache. A card whose permissions no person accepted is blocked and does not run.',
    input: runInput,
    list: 'ordinary',
    effect: 'run',
    async prepare({ cards, ignoreCache = false, waitSeconds = defaultWaitSeconds }, { root }) {
      const project = deps.projects.refresh(root);
      assertCards(project, cards);
      const chosen = cards && [...new Set(cards)].sort();
      let plan: readonly PlannedCard[] = [];
      const review = deps.review(root);
      return {
        args: { cards: chosen ?? null, ignoreCache, waitSeconds },
        permissions: [],
        async measure() {
          plan = await deps.open().runs.dryRun(root, chosen);
          return Promise.all(plan.map(({ id }) => codeTarget(deps, deps.projects.refresh(root), id)));
        },
        describe: () => ({
          title: `Run ${plan.length} ${plan.length === 1 ? 'card' : 'cards'} sealed`,
          lines: plan.map(({ id, action }) => {
            const open = review.cards.find((card) => card.id === id)?.permissions ?? [];
            const accepted = open.filter(({ isNew }) => !isNew).map(({ sentence }) => sentence);
            return `${id}: ${action}${accepted.length > 0 ? `. Accepted before: ${accepted.join('; ')}` : ''}`;
          }),
          fullText: null,
        }),
        async run(signal) {
          const { runs, history } = deps.open();
          signal.throwIfAborted();
          const runId = await runs.start(root, { cards: chosen, ignoreCache });
          const end = runs.whenFinished(runId);
          const isOver = end ? await waitFor(end, waitSeconds * 1000, signal, deps) : true;
          if (signal.aborted) {
            runs.cancel(runId);
            await end;
          }
          const view = history.view(runId);
          const rest = isOver || signal.aborted ? '' : `\nIt goes on. Call run_status with ${runId}.`;
          const isError = ['failed', 'unknown', 'cancelled'].includes(view.summary.state);
          return { text: tellRun(view, deps.review(root)) + rest, isError, runId };
        },
      };
    },
  });
}

function assertCards(project: LoadedProject, cards: readonly string[] | undefined): void {
  const unknown = cards?.filter((id) => !project.cards.has(id)) ?? [];
  if (unknown.length === 0) return;
  const known = [...project.cards.keys()].slice(0, 50).join(', ');
  throw new UserError('not-found', `There is no card ${unknown.join(', ')}. The cards are: ${known}`, {
    cards: unknown,
  });
}

/** A card as the folder that it is, measured by its code: a changed script is another target. */
async function codeTarget(deps: RunToolDeps, project: LoadedProject, id: string): Promise<Target> {
  const card = project.cards.get(id);
  if (!card) throw new UserError('not-found', `There is no card ${id}`, { card: id });
  const { relative, isOutside } = resolvePath(project.root, card.folder);
  const { digest } = await deps.open().code.capture(card.folder);
  return { kind: 'path', name: relative, measure: digest, isProtected: false, isOutside };
}

/** True where it ended; false where the time was over first or the wait was given up. */
function waitFor(
  end: Promise<unknown>,
  ms: number,
  signal: AbortSignal,
  deps: RunToolDeps,
): Promise<boolean> {
  return new Promise((resolve) => {
    const settle = (isOver: boolean) => {
      stop();
      signal.removeEventListener('abort', giveUp);
      resolve(isOver);
    };
    const giveUp = () => settle(false);
    const stop = deps.scheduler.setTimer(giveUp, ms);
    signal.addEventListener('abort', giveUp, { once: true });
    if (signal.aborted) giveUp();
    void end.then(() => settle(true));
  });
}

import { hash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import type { agentRequests } from '../../../protocol/src/agent.ts';
import { type UndoStep } from '../../../protocol/src/agent.ts';
import { canonicalJson, type Json } from '../../../protocol/src/canonicalJson.ts';
import type { ParamsOf, RequestHandlers } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { Target } from '../../../protocol/src/gate.ts';
import type { Gate } from '../gate/gate.ts';
import { resolvePath } from '../gate/paths.ts';
import type { Cursors } from '../store/cursors.ts';
import { digestOf, type FileState } from './fileState.ts';
import { shownPath, toChange, type Direction, type Entry } from './entries.ts';
import type { Journal } from './journal.ts';
import { namesIn } from './namesIn.ts';
import { absolutePath, placeKey } from './place.ts';
import { planUndo, type PlannedStep } from './planUndo.ts';

type HistoryRequests = Pick<
  typeof agentRequests,
  'history/list' | 'history/locate' | 'history/preview' | 'history/apply'
>;
type Chosen = ParamsOf<HistoryRequests['history/preview']>;

export interface UndoOptions {
  readonly journal: Journal;
  readonly gate: Gate;
  readonly cursors: Cursors;
  readonly createId: () => string;
  readonly scopeOf: (root: string) => string;
  /** Which of these absolute paths are open with unsaved changes. Where it rejects, all of them count as such. */
  readonly dirty: (paths: readonly string[]) => Promise<readonly string[]>;
  /** Told after changes of these conversations were undone or done again. */
  readonly onTurned: (conversations: ReadonlySet<string>) => void;
}

interface Plan {
  readonly direction: Direction;
  readonly root: string;
  readonly entries: readonly Entry[];
  readonly steps: readonly PlannedStep[];
  readonly digest: string;
}

/**
 * Undo and redo for a person: a plan is shown, and exactly that plan is done, all of it or none. It is recorded like any
 * other change, so it can be taken back in turn.
 */
export class Undo {
  readonly #options: UndoOptions;

  constructor(options: UndoOptions) {
    this.#options = options;
  }

  async preview(chosen: Chosen): Promise<{ planDigest: string; steps: UndoStep[] }> {
    const { root, steps, digest } = await this.#plan(chosen);
    return { planDigest: digest, steps: steps.map((step) => toStep(root, step)) };
  }

  /** Throws `conflict` where the plan is no longer the one that was shown, or one of its steps can't be done. */
  async apply({ planDigest, ...chosen }: Chosen & { readonly planDigest: string }): Promise<number> {
    const { gate, createId, scopeOf } = this.#options;
    const root = realRoot(chosen.root);
    let plan: Plan | undefined;
    const planned = (): Plan => {
      if (!plan) throw new Error('A plan is made before it is described or done');
      return plan;
    };
    let failure: { readonly error: unknown } | undefined;
    const result = await gate.pass(
      {
        opId: createId(),
        principal: 'person',
        conversation: null,
        root,
        scope: scopeOf(chosen.root),
        callId: `undo-${planDigest.slice(0, 16)}`,
        tool: chosen.direction,
        effect: 'undo',
        args: JSON.parse(JSON.stringify({ ...chosen, planDigest })) as Json,
        permissions: [],
        measure: async () => {
          plan = await this.#plan(chosen);
          return plan.steps.map((step) => toTarget(root, step));
        },
        describe: () => ({
          title: titleOf(planned()),
          lines: planned().steps.map(({ place, action }) => `${action}: ${shownPath(root, place)}`),
          fullText: null,
        }),
      },
      async () => {
        try {
          return await this.#do(planned(), planDigest);
        } catch (error) {
          failure = { error };
          throw error;
        }
      },
      new AbortController().signal,
    );
    if (failure) throw failure.error;
    if (result.kind === 'done') return result.value;
    const why = result.kind === 'failed' ? result.message : result.reason;
    throw new UserError(
      result.kind === 'refused' && result.code === 'denied' ? 'not-trusted' : 'conflict',
      why,
    );
  }

  async #do(plan: Plan, planDigest: string): Promise<number> {
    if (plan.digest !== planDigest) {
      throw new UserError(
        'conflict',
        'The files changed since this was shown. Nothing was done; look at it again.',
      );
    }
    const stuck = plan.steps.filter(({ conflict }) => conflict !== null);
    if (stuck.length > 0) {
      const paths = stuck.map(({ place }) => shownPath(plan.root, place));
      throw new UserError(
        'conflict',
        `Nothing was done, because ${paths.length === 1 ? 'a file is' : 'files are'} in the way: ${paths.slice(0, 5).join(', ')}${paths.length > 5 ? ', …' : ''}`,
        { paths },
      );
    }
    const { journal, createId } = this.#options;
    const active = plan.steps.filter(({ action }) => action !== 'nothing');
    const seqs = plan.steps.flatMap(({ entries }) => entries.map(({ seq }) => seq));
    await journal.change(
      {
        root: plan.root,
        principal: 'person',
        conversation: plan.entries[0]?.conversation ?? null,
        group: createId(),
        groupTitle: titleOf(plan),
      },
      active.map(({ place, from, to, entries }) => ({
        place,
        to,
        reverts: entries,
        ...(from ? { expected: from } : {}),
      })),
      { direction: plan.direction, seqs },
    );
    this.#options.onTurned(new Set(plan.entries.flatMap(({ conversation }) => conversation ?? [])));
    return active.length;
  }

  async #plan(chosen: Chosen): Promise<Plan> {
    const { journal } = this.#options;
    const root = realRoot(chosen.root);
    const entries = this.#entriesOf(root, chosen);
    const states = new Map<string, FileState | null>();
    for (const { place } of entries) {
      const key = placeKey(place);
      if (!states.has(key)) states.set(key, await this.#stateOf(place));
    }
    const dirty = await this.#dirtyOf(entries);
    const steps = planUndo(entries, chosen.direction, {
      current: (place) => states.get(placeKey(place)) ?? null,
      isDirty: (place) => dirty === 'unknown' || dirty.has(absolutePath(place)),
      isKept: (state) => state.kind !== 'file' || journal.blobs.sizeOf(state.digest) === state.sizeBytes,
      namesIn,
    });
    const bound = steps.map(({ entries: of, from, to, action, conflict }) => ({
      ids: of.map(({ id }) => id),
      from: from,
      to: to,
      action,
      conflict,
    }));
    return {
      direction: chosen.direction,
      root,
      entries,
      steps,
      digest: hash('sha256', canonicalJson({ direction: chosen.direction, root, steps: bound })),
    };
  }

  #entriesOf(root: string, { group, changeIds }: Chosen): Entry[] {
    const { entries } = this.#options.journal;
    if ((group === undefined) === (changeIds === undefined))
      throw new UserError('bad-message', 'Name either a group or changes');
    if (group !== undefined) return entries.ofGroup(root, group);
    const found = new Map<number, Entry>();
    for (const id of changeIds ?? []) {
      const entry = entries.get(id);
      if (entry?.root !== root)
        throw new UserError('not-found', 'This change is no longer in the history', { id });
      // Both ends of a rename go together.
      const ends =
        entry.kind === 'rename'
          ? entries.ofGroup(root, entry.group).filter(({ kind, at }) => kind === 'rename' && at === entry.at)
          : [entry];
      for (const each of ends) found.set(each.seq, each);
    }
    return [...found.values()];
  }

  async #stateOf(place: Entry['place']): Promise<FileState | null> {
    try {
      return (await this.#options.journal.look(place)).state;
    } catch {
      return null;
    }
  }

  async #dirtyOf(entries: readonly Entry[]): Promise<ReadonlySet<string> | 'unknown'> {
    try {
      return new Set(
        await this.#options.dirty([...new Set(entries.map(({ place }) => absolutePath(place)))]),
      );
    } catch {
      return 'unknown';
    }
  }
}

/** The handlers of the history's requests. */
export function createHistoryHandlers(options: UndoOptions): RequestHandlers<HistoryRequests> {
  const { journal, cursors } = options;
  const undo = new Undo(options);
  return {
    'history/list': ({ root, conversation, cursor, limit }) => {
      const real = realRoot(root);
      const list = JSON.stringify(['history', real, conversation ?? null]);
      const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : cursors.open(list, cursor);
      const wanted = Math.min(Math.max(1, limit), 200);
      const entries = journal.entries.list(real, conversation, before, wanted + 1);
      const shown = entries.slice(0, wanted);
      const last = shown.at(-1);
      return {
        changes: shown.map(toChange),
        ...(entries.length > wanted && last ? { cursor: cursors.seal(list, last.seq) } : {}),
        usedBytes: journal.space.usedBytes(),
        limitBytes: journal.space.limitBytes,
      };
    },
    'history/locate': ({ changeId, side }) => {
      const entry = journal.entries.get(changeId);
      if (!entry) throw new UserError('not-found', 'This change is no longer in the history', { changeId });
      const state = side === 'before' ? entry.before : entry.after;
      const digest = state && digestOf(state);
      return { path: digest && journal.blobs.has(digest) ? journal.blobs.pathOf(digest) : null };
    },
    'history/preview': (chosen) => undo.preview(chosen),
    'history/apply': async (chosen) => ({ applied: await undo.apply(chosen) }),
  };
}

function titleOf({ direction, entries }: Plan): string {
  const titles = new Set(entries.map(({ groupTitle }) => groupTitle));
  const [title = ''] = titles;
  return `${direction === 'undo' ? 'Undo' : 'Redo'}: ${title}${titles.size > 1 ? ', …' : ''}`;
}

function toStep(root: string, { entries, place, action, conflict }: PlannedStep): UndoStep {
  return { changeId: entries.at(-1)?.id ?? '', path: shownPath(root, place), action, conflict };
}

function toTarget(root: string, { place, from }: PlannedStep): Target {
  let isProtected = true;
  try {
    isProtected = resolvePath(root, absolutePath(place)).isProtected;
  } catch {
    // A path that can't be judged is protected.
  }
  return {
    kind: 'path',
    name: shownPath(root, place),
    measure: from === null ? 'unknown' : measureOf(from),
    isProtected,
    isOutside: place.base !== root,
  };
}

/** What an approval is bound to of a path: content and permission bits, or where a link leads; null for nothing. */
export function measureOf(state: FileState): string | null {
  return state.kind === 'absent' ? null : hash('sha256', canonicalJson(state));
}

function realRoot(root: string): string {
  try {
    return realpathSync.native(root);
  } catch {
    return root;
  }
}

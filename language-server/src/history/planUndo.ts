import type { UndoStep } from '../../../protocol/src/agent.ts';
import type { Direction, Entry } from './entries.ts';
import { absent, isSameState, type FileState } from './fileState.ts';
import { depthOf, placeKey, type Place } from './place.ts';

/** What a plan must know of the world. */
export interface PlanFacts {
  /** What is there now; null where the way there leads through a link or it can't be put back. */
  readonly current: (place: Place) => FileState | null;
  /** Open in an editor with unsaved changes. */
  readonly isDirty: (place: Place) => boolean;
  /** Its content is still kept, whole. */
  readonly isKept: (state: FileState) => boolean;
  /** Names in a folder. */
  readonly namesIn: (place: Place) => readonly string[];
}

/** What an undo or redo does to one path, over all the entries of that path. */
export interface PlannedStep {
  /** In order of time; the step is shown under the last one's id. */
  readonly entries: readonly Entry[];
  readonly place: Place;
  readonly from: FileState | null;
  readonly to: FileState;
  readonly action: UndoStep['action'];
  readonly conflict: UndoStep['conflict'];
}

/**
 * Plans taking entries back, or doing them again. Pure. Each path has one step, from what is there now to what was
 * there before the first of its entries (undo) or after the last (redo). It is a conflict where what is there now is
 * not what those entries left: a later change by anybody is never overwritten, only shown.
 */
export function planUndo(entries: readonly Entry[], direction: Direction, facts: PlanFacts): PlannedStep[] {
  const byPlace = new Map<string, Entry[]>();
  for (const entry of [...entries].sort((a, b) => a.seq - b.seq)) {
    if (entry.after === null || entry.undone !== (direction === 'redo')) continue;
    const key = placeKey(entry.place);
    byPlace.set(key, [...(byPlace.get(key) ?? []), entry]);
  }
  const steps = [...byPlace.values()].map((chain) => planOne(chain, direction, facts));
  return keepOccupiedFolders(steps, facts).sort((a, b) => (placeKey(a.place) < placeKey(b.place) ? -1 : 1));
}

function planOne(chain: readonly Entry[], direction: Direction, facts: PlanFacts): PlannedStep {
  const first = chain[0];
  const last = chain.at(-1);
  if (!first || !last) throw new Error('A path without entries is never planned');
  const { place } = last;
  const from = facts.current(place);
  const [to, expected] =
    direction === 'undo' ? [first.before, last.after ?? absent] : [last.after ?? absent, first.before];
  const step = { entries: chain, place, from, to };
  if (from === null) return { ...step, action: 'nothing', conflict: 'outside' };
  if (isSameState(from, to)) return { ...step, action: 'nothing', conflict: null };
  const isWhole = chain.every((entry, index) => {
    const next = chain[index + 1];
    return next === undefined || (entry.after !== null && isSameState(entry.after, next.before));
  });
  const conflict = facts.isDirty(place)
    ? 'dirty-editor'
    : !isWhole || !isSameState(from, expected)
      ? 'changed-since'
      : !facts.isKept(to)
        ? 'pruned'
        : null;
  return { ...step, action: actionFor(from, to), conflict };
}

function actionFor(from: FileState, to: FileState): UndoStep['action'] {
  if (to.kind === 'absent') return 'remove';
  if (from.kind === 'absent') return 'recreate';
  const isMode =
    (from.kind === 'file' && to.kind === 'file' && from.digest === to.digest) ||
    (from.kind === 'folder' && to.kind === 'folder');
  return isMode ? 'mode' : 'restore';
}

/** A folder that holds more than what goes with this plan stays, from the deepest up. */
function keepOccupiedFolders(steps: readonly PlannedStep[], facts: PlanFacts): PlannedStep[] {
  const going = new Set(
    steps
      .filter(({ to, conflict }) => to.kind === 'absent' && conflict === null)
      .map((s) => placeKey(s.place)),
  );
  const kept = new Set<string>();
  const folders = steps
    .filter(({ from, to }) => from?.kind === 'folder' && to.kind === 'absent')
    .sort((a, b) => depthOf(b.place) - depthOf(a.place));
  for (const { place } of folders) {
    const isOccupied = facts.namesIn(place).some((name) => {
      const key = placeKey({ base: place.base, path: `${place.path}/${name}` });
      return !going.has(key) || kept.has(key);
    });
    if (isOccupied) kept.add(placeKey(place));
  }
  return steps.map((step) => (kept.has(placeKey(step.place)) ? { ...step, action: 'nothing' } : step));
}

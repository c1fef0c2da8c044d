import { readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { limits } from '../../../protocol/src/limits.ts';
import {
  checkCardText,
  checkProjectText,
  type CheckedCard,
  type CheckedProject,
} from '../manifests/checkManifest.ts';
import { cardFacts, type CardFacts } from '../manifests/cardFacts.ts';
import { replaceFix } from '../manifests/edits.ts';
import { nearest } from '../manifests/nearest.ts';
import { insideParts, pathKind, type PathKind } from '../manifests/paths.ts';
import { problem, startOfFile } from '../manifests/problem.ts';
import { idPattern } from '../../../protocol/src/manifests.ts';
import { buildGraph } from './buildGraph.ts';
import { checkWires } from './checkWires.ts';
import { cardFile, findCards, projectFile, type FoundCard, type FoundCards } from './findCards.ts';
import type { LoadedCard, LoadedProject, Problem } from './model.ts';
import { isUnchanged, readManifest, type Signature } from './readManifest.ts';

/** The text of a manifest in an editor, by absolute path, where it is open. */
export type OpenText = (path: string) => string | undefined;

/** Text of all manifests of a project together: checking it is bounded as checking one is. */
const mostTextBytes = 32 * 1024 * 1024;

/** A manifest as it was last read, by what tells whether to read it again. */
interface Source<Checked> {
  /** Kept where the signature does not tell whether the text is still this one. */
  readonly text: string | undefined;
  readonly signature: Signature | undefined;
  /** Why there is no text. */
  readonly problem?: Problem;
  readonly checked: Checked;
  /** UTF-16 units of the text. */
  readonly size: number;
}

interface CardState {
  readonly found: FoundCard;
  readonly source: Source<CheckedCard>;
  /** Absolute, where the entry is a sound path. */
  readonly entryPath: string | undefined;
  readonly entryKind: PathKind;
  /** Problems of the card alone: text, folder name, entry. */
  readonly own: readonly Problem[];
}

/**
 * One project, read again only where something changed: a file by its stat, an open editor by its text. All reading is
 * synchronous, so an answer is of one moment.
 */
export class ProjectState {
  readonly root: string;
  readonly #openText: OpenText;
  readonly #manifestPath: string;
  #source: Source<CheckedProject> | undefined;
  #found: FoundCards = { cards: new Map(), duplicates: new Map(), problems: [] };
  #cards = new Map<string, CardState>();
  #loaded: LoadedProject | undefined;
  #isTooMuch = false;

  constructor(root: string, openText: OpenText = () => undefined) {
    this.root = root;
    this.#openText = openText;
    this.#manifestPath = join(root, projectFile);
  }

  /** The project as of the last `refresh`; undefined where there is none. */
  get loaded(): LoadedProject | undefined {
    return this.#loaded;
  }

  /** Looks at every file again and reads what changed. True where the answer differs from the one before. */
  refresh(): boolean {
    const source = reread(this.#manifestPath, this.#source, this.#openText, checkProjectText, unreadProject);
    if (!source) {
      const wasThere = this.#loaded !== undefined;
      this.#source = undefined;
      this.#cards.clear();
      this.#loaded = undefined;
      return wasThere;
    }
    const manifestChanged = source.checked !== this.#source?.checked;
    this.#source = source;
    const read = new Map<FoundCard, Source<CheckedCard>>();
    let bytesLeft = mostTextBytes;
    this.#found = findCards(this.root, source.checked.facts.patterns, (found) => {
      if (bytesLeft < 0) return false;
      const before = this.#before(found)?.source;
      const card = reread(found.manifestPath, before, this.#openText, checkCardText, unreadCard);
      if (card) read.set(found, card);
      bytesLeft -= card?.size ?? 0;
      return card !== undefined;
    });
    this.#isTooMuch = bytesLeft < 0;
    const cards = new Map<string, CardState>();
    let changed =
      manifestChanged || this.#found.cards.size !== this.#cards.size || this.#loaded === undefined;
    for (const found of this.#found.cards.values()) {
      const card = read.get(found);
      if (!card) continue;
      const before = this.#before(found);
      const state = nextState(found, card, before);
      cards.set(found.id, state);
      changed ||= state.own !== before?.own;
    }
    this.#cards = cards;
    return this.#link(changed);
  }

  /** As `refresh`, for one manifest whose editor text changed: nothing else is looked at. */
  update(path: string): boolean {
    const before = this.#cardAt(path);
    const source = before && reread(path, before.source, this.#openText, checkCardText, unreadCard);
    if (!source) return this.refresh();
    const next = nextState(before.found, source, before);
    this.#cards.set(before.found.id, next);
    return this.#link(next.own !== before.own);
  }

  /** The line starts of a manifest's text, to place its problems. */
  linesOf(path: string): Uint32Array | undefined {
    if (path === this.#manifestPath) return this.#source?.checked.lines;
    return this.#cardAt(path)?.source.checked.lines;
  }

  /** The written ports and wires of a card, with their places. */
  factsOf(id: string): CardFacts | undefined {
    return this.#cards.get(id)?.source.checked.facts;
  }

  /** The same card at the last look. */
  #before(found: FoundCard): CardState | undefined {
    const card = this.#cards.get(found.id);
    return card?.found.manifestPath === found.manifestPath ? card : undefined;
  }

  /** The card whose manifest is at `path`. */
  #cardAt(path: string): CardState | undefined {
    const card = this.#cards.get(basename(dirname(path)));
    return card?.found.manifestPath === path ? card : undefined;
  }

  /** Puts cards, wires and what is wrong between them together. Cards that did not change stay the same objects. */
  #link(changed: boolean): boolean {
    const checked = this.#source?.checked;
    if (!checked) return false;
    const projectProblems = [
      ...checked.problems,
      ...this.#found.problems,
      ...missingSources(this.root, checked),
      ...(this.#isTooMuch ? [problem('too-much-text', startOfFile, [mostTextBytes])] : []),
    ];
    if (!changed && this.#loaded && sameProblems(this.#loaded.problems, projectProblems)) return false;
    const nodes = new Map(
      [...this.#cards].map(([id, card]) => [id, { id, manifest: this.#manifestOf(card) }] as const),
    );
    const graph = buildGraph(nodes);
    const wired = new Map(
      [...this.#cards].map(([id, { found, source }]) => [
        id,
        { id, manifestPath: found.manifestPath, facts: source.checked.facts },
      ]),
    );
    const between = checkWires(wired, graph, Object.keys(checked.manifest?.environmentSources ?? {}));
    const cards = new Map<string, LoadedCard>();
    for (const [id, card] of this.#cards) {
      const problems = [...card.own, ...this.#duplicate(card), ...(between.get(id) ?? [])];
      const manifest = this.#manifestOf(card);
      const { folder, manifestPath } = card.found;
      const before = this.#loaded?.cards.get(id);
      const same =
        before?.manifest === manifest && before.folder === folder && sameProblems(before.problems, problems);
      cards.set(id, same ? before : { id, folder, manifestPath, manifest, problems });
    }
    this.#loaded = {
      root: this.root,
      manifestPath: this.#manifestPath,
      manifest: checked.manifest,
      problems: projectProblems,
      cards,
      graph,
    };
    return true;
  }

  #manifestOf(card: CardState) {
    const isSound = idPattern.test(card.found.id) && !this.#found.duplicates.has(card.found.id);
    return isSound ? card.source.checked.manifest : null;
  }

  #duplicate(card: CardState): Problem[] {
    const other = this.#found.duplicates.get(card.found.id);
    return other === undefined ? [] : [problem('duplicate-card', startOfFile, [card.found.id, other])];
  }
}

function nextState(found: FoundCard, source: Source<CheckedCard>, before: CardState | undefined): CardState {
  const same = before && source.checked === before.source.checked;
  const entryPath = same ? before.entryPath : pathOfEntry(found.folder, source.checked);
  const entryKind = entryPath === undefined ? 'absent' : pathKind(entryPath);
  if (same && entryKind === before.entryKind)
    return source === before.source ? before : { ...before, source };
  return { found, source, entryPath, entryKind, own: ownProblems(found, source.checked, entryKind) };
}

/** What a manifest says now, the same object where nothing changed; undefined where there is none. */
function reread<Checked>(
  path: string,
  before: Source<Checked> | undefined,
  openText: OpenText,
  check: (text: string) => Checked,
  unread: (problem: Problem) => Checked,
): Source<Checked> | undefined {
  const open = openText(path);
  if (open !== undefined) return before?.text === open ? before : fromText(open, undefined, check, unread);
  if (before && isUnchanged(path, before.signature)) return before;
  const file = readManifest(path);
  if (file.kind === 'absent') return undefined;
  const { signature } = file;
  if (file.kind === 'text') {
    return before?.text === file.text
      ? { ...before, signature, text: file.signature.key === undefined ? file.text : undefined }
      : fromText(file.text, signature, check, unread);
  }
  return before?.problem && isSame(before.problem, file.problem)
    ? { ...before, signature }
    : { text: undefined, signature, problem: file.problem, checked: unread(file.problem), size: 0 };
}

function fromText<Checked>(
  text: string,
  signature: Signature | undefined,
  check: (text: string) => Checked,
  unread: (problem: Problem) => Checked,
): Source<Checked> {
  const isTooLarge = text.length > limits.manifestBytes;
  const tooLarge = () => problem('too-large', startOfFile, [text.length, limits.manifestBytes]);
  return {
    text: signature?.key === undefined ? text : undefined,
    signature,
    checked: isTooLarge ? unread(tooLarge()) : check(text),
    size: isTooLarge ? 0 : text.length,
  };
}

const oneLine = Uint32Array.of(0);

function unreadCard(found: Problem): CheckedCard {
  return { manifest: null, problems: [found], lines: oneLine, facts: cardFacts('', undefined, false) };
}

function unreadProject(found: Problem): CheckedProject {
  return { manifest: null, problems: [found], lines: oneLine, facts: { patterns: [], sources: [] } };
}

function pathOfEntry(folder: string, { facts }: CheckedCard): string | undefined {
  const parts = facts.entry && insideParts(facts.entry.path);
  return parts && join(folder, ...parts);
}

function ownProblems(found: FoundCard, checked: CheckedCard, entryKind: PathKind): Problem[] {
  const problems = [...checked.problems];
  if (!idPattern.test(found.id) || !insideParts(found.id)) {
    problems.push(problem('bad-card-folder', startOfFile, [found.id]));
  }
  const { entry } = checked.facts;
  if (!entry || !insideParts(entry.path) || entryKind === 'file') return problems;
  if (entryKind !== 'absent') problems.push(problem('entry-not-file', entry.at, [entry.path, entryKind]));
  else {
    const meant = nearest(entry.path, filesOf(found.folder));
    const fix = meant === undefined ? undefined : replaceFix(entry.at, meant);
    problems.push(problem('missing-entry', entry.at, [entry.path, meant], fix));
  }
  return problems;
}

function filesOf(folder: string): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== cardFile)
      .map((entry) => entry.name);
  } catch {
    return [];
  }
}

function missingSources(root: string, { facts }: CheckedProject): Problem[] {
  return facts.sources
    .filter(({ parts }) => pathKind(join(root, ...parts)) !== 'file')
    .map(({ path, at }) => problem('missing-source', at, [path]));
}

function sameProblems(a: readonly Problem[], b: readonly Problem[]): boolean {
  return a.length === b.length && a.every((each, index) => isSame(each, b[index]));
}

function isSame(a: Problem, b: Problem | undefined): boolean {
  return (
    a === b ||
    (b !== undefined &&
      a.code === b.code &&
      a.message === b.message &&
      a.start === b.start &&
      a.end === b.end &&
      JSON.stringify(a.related) === JSON.stringify(b.related))
  );
}

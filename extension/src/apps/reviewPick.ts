import { QuickPickItemKind, ThemeColor, ThemeIcon, window, type QuickPickItem } from 'vscode';
import type { AppReview } from '../../../protocol/src/apps.ts';
import { reviewWords as words } from '../appMessages.ts';
import {
  isFlagged,
  reviewParts,
  type ReviewFact,
  type ReviewMark,
  type ReviewSection,
} from './reviewLines.ts';

/** What a line does when it is chosen. Facts do nothing: Enter on one never answers. */
export type ReviewAct = 'install' | 'read' | 'unfold' | 'later' | 'decline';

/** An answer, or `gone`: the list was closed and nothing was answered. */
export type ReviewChoice = Exclude<ReviewAct, 'unfold'> | 'gone';

export interface ReviewItem extends QuickPickItem {
  readonly act?: ReviewAct;
}

/**
 * Puts a review to a person: what the app may do, then the answers, which are never the first line. While the whole
 * review has to be read and was not, no line installs.
 */
export function pickReview(review: AppReview, isRead: boolean): Promise<ReviewChoice> {
  const pick = window.createQuickPick<ReviewItem>();
  pick.title = words.title(review);
  pick.placeholder = words.placeholder();
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  pick.items = reviewItems(review, { isRead, isUnfolded: false });
  return new Promise((resolve) => {
    const end = (choice: ReviewChoice): void => {
      resolve(choice);
      pick.dispose();
    };
    pick.onDidAccept(() => {
      const act = pick.selectedItems[0]?.act;
      if (act === undefined) return;
      if (act === 'unfold') pick.items = reviewItems(review, { isRead, isUnfolded: true });
      else end(act);
    });
    pick.onDidHide(() => end('gone'));
    pick.show();
  });
}

/** The lines of the list. */
export function reviewItems(
  review: AppReview,
  { isRead, isUnfolded }: { readonly isRead: boolean; readonly isUnfolded: boolean },
): ReviewItem[] {
  const { counts, same } = reviewParts(review);
  const mayInstall = isRead || !mustRead(review);
  const items = counts.flatMap(toItems);
  if (same.length > 0) {
    const lines = same.flatMap(({ facts }) => facts);
    items.push(heading(words.headings.same()));
    if (isUnfolded) items.push(...same.flatMap(toNamedItems));
    else items.push(answer('unfold', words.unfold(lines.length)));
  }
  items.push(heading(words.headings.answer()));
  items.push(answer('read', words.read(), mayInstall ? undefined : words.readFirst()));
  if (mayInstall) items.push(answer('install', words.install(review), words.installNote()));
  items.push(answer('decline', words.decline(review), words.declineNote(review)));
  if (review.installed) items.push(answer('later', words.later(), words.laterNote()));
  return items;
}

/** What a pick list surely shows of one line, its note included, and how many lines a person looks through. */
const lineCharacters = 72;
const mostLines = 40;

/** True where the list can't show all of it well: then it can be installed only after the whole review was opened. */
export function mustRead(review: AppReview): boolean {
  const facts = reviewParts(review).counts.flatMap((section) => section.facts);
  return isFlagged(review) || facts.length > mostLines || facts.some((fact) => width(fact) > lineCharacters);
}

/** A heading stands beside the first line; where that leaves it too little room, above it. */
function toItems({ heading: text, facts }: ReviewSection): ReviewItem[] {
  const [first] = facts;
  const fits = !first || width(first) + width({ text }) <= lineCharacters;
  const head = fits ? [heading(text)] : [heading(''), { label: text }];
  return [...head, ...facts.slice(0, mostLines).map(factItem), ...cut(facts)];
}

function width({ text, note = '' }: { readonly text: string; readonly note?: string }): number {
  return Array.from(text + note).length;
}

/** Below one heading, so that each line has to say where it belongs. */
function toNamedItems({ heading: text, facts }: ReviewSection): ReviewItem[] {
  return [
    ...facts.slice(0, mostLines).map((each) => ({ ...factItem(each), description: text })),
    ...cut(facts),
  ];
}

function cut(facts: readonly ReviewFact[]): ReviewItem[] {
  return facts.length > mostLines ? [{ label: words.more(facts.length - mostLines) }] : [];
}

const icons: Readonly<Record<ReviewMark, readonly [name: string, color?: string]>> = {
  new: ['add'],
  gone: ['remove'],
  local: ['warning', 'problemsWarningIcon.foreground'],
  warning: ['warning', 'problemsWarningIcon.foreground'],
  plain: ['blank'],
};

function factItem({ text, note, mark }: ReviewFact): ReviewItem {
  const [icon, color] = icons[mark];
  return {
    label: text,
    ...(note !== undefined && { description: note }),
    iconPath: new ThemeIcon(icon, color === undefined ? undefined : new ThemeColor(color)),
  };
}

const actIcons: Readonly<Record<ReviewAct, string>> = {
  install: 'check',
  read: 'book',
  unfold: 'unfold',
  later: 'watch',
  decline: 'close',
};

function heading(text: string): ReviewItem {
  return { label: text, kind: QuickPickItemKind.Separator };
}

function answer(act: ReviewAct, label: string, description?: string): ReviewItem {
  return {
    label,
    alwaysShow: true,
    iconPath: new ThemeIcon(actIcons[act]),
    ...(description !== undefined && { description }),
    act,
  };
}

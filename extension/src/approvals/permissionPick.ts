import { QuickPickItemKind, ThemeIcon, window, type QuickInputButton, type QuickPickItem } from 'vscode';
import { permissionText } from '../documents/reportTexts.ts';
import type { Reports } from '../documents/reports.ts';
import { choose } from '../messages.ts';
import type { ReviewLine } from './reviewLines.ts';

interface LineItem extends QuickPickItem {
  readonly line?: ReviewLine;
}

/**
 * Puts the permissions to a person, one line each, nothing selected. Resolves with the lines that were selected when OK
 * was pressed, or undefined where the list was closed. A line that is longer than the list shows counts only after its
 * whole text was opened.
 */
export function pickPermissions(
  root: string,
  lines: { readonly asked: readonly ReviewLine[]; readonly accepted: readonly ReviewLine[] },
  reports: Reports,
): Promise<readonly ReviewLine[] | undefined> {
  const pick = window.createQuickPick<LineItem>();
  const readButton: QuickInputButton = { iconPath: new ThemeIcon('book'), tooltip: choose.wholeText() };
  const read = new Set<ReviewLine>();
  pick.title = choose.reviewTitle(root);
  pick.placeholder = choose.review();
  pick.canSelectMany = true;
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  pick.items = toItems(lines, readButton);
  pick.selectedItems = [];
  return new Promise((resolve) => {
    pick.onDidTriggerItemButton(({ item: { line } }) => {
      if (!line) return;
      read.add(line);
      const { title, text } = permissionText(line.cardTitle, line.sentence);
      void reports.show(title, text, { preserveFocus: true });
    });
    pick.onDidAccept(() => {
      const selected = pick.selectedItems.flatMap((item) => (item.line ? [item.line] : []));
      if (selected.some((line) => line.isLong && !read.has(line))) {
        pick.placeholder = choose.readFirst();
        pick.title = choose.readFirst();
        return;
      }
      resolve(selected);
      pick.dispose();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
  });
}

function toItems(
  { asked, accepted }: { readonly asked: readonly ReviewLine[]; readonly accepted: readonly ReviewLine[] },
  readButton: QuickInputButton,
): LineItem[] {
  const items: LineItem[] = [];
  let group: string | undefined;
  for (const line of asked) {
    if (line.card !== group) items.push({ label: line.cardTitle, kind: QuickPickItemKind.Separator });
    group = line.card;
    items.push(toItem(line, readButton));
  }
  if (accepted.length > 0) items.push({ label: choose.acceptedBefore(), kind: QuickPickItemKind.Separator });
  return [...items, ...accepted.map((line) => toItem(line, readButton))];
}

function toItem(line: ReviewLine, readButton: QuickInputButton): LineItem {
  return {
    label: line.sentence,
    description: `${line.cardTitle} · ${line.isNew ? choose.isNew() : choose.isAccepted()}`,
    ...(line.hasHidden && { detail: choose.hiddenCharacters() }),
    ...(line.isLong && { buttons: [readButton] }),
    line,
  };
}

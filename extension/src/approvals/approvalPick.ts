import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import type { Approval } from '../../../protocol/src/gate.ts';
import { approvalWords } from '../agentMessages.ts';
import { approvalLines, type ApprovalAct, type ApprovalLine } from './approvalLines.ts';

/** An answer, or `gone`: the list was closed or the question no longer waits, and nothing was answered. */
export type ApprovalChoice = Exclude<ApprovalAct, 'open-text' | 'explain'> | 'gone';

export interface ApprovalPickOptions {
  readonly hasList: boolean;
  /** Opens the whole text in a read-only document; resolves when it is shown. */
  readonly openText: () => Promise<void>;
  readonly explain: () => Promise<void>;
  /** Calls back when this question no longer waits; answers with what ends the listening. */
  readonly onWithdrawn: (listener: () => void) => { dispose(): void };
  readonly onError: (error: unknown) => void;
}

interface LineItem extends QuickPickItem {
  readonly line: ApprovalLine;
}

/**
 * Puts one approval to a person. Only a line of the group "Your answer" answers; it is never the first, so a key pressed
 * too early answers nothing. Allowing is not there before a text that did not fit was opened.
 */
export function pickAnswer(approval: Approval, options: ApprovalPickOptions): Promise<ApprovalChoice> {
  const pick = window.createQuickPick<LineItem>();
  const show = (isRead: boolean): void => {
    pick.items = approvalLines(approval, { isRead, hasList: options.hasList }).map(toItem);
  };
  pick.title = approvalWords.title(approval.tool);
  pick.placeholder = approvalWords.placeholder();
  pick.ignoreFocusOut = true;
  pick.matchOnDescription = true;
  show(false);
  return new Promise((resolve) => {
    const end = (choice: ApprovalChoice): void => {
      resolve(choice);
      withdrawn.dispose();
      pick.dispose();
    };
    const withdrawn = options.onWithdrawn(() => end('gone'));
    pick.onDidAccept(() => {
      const line = pick.selectedItems[0]?.line;
      if (line?.kind !== 'act') return;
      if (line.act === 'open-text') options.openText().then(() => show(true), options.onError);
      else if (line.act === 'explain') options.explain().catch(options.onError);
      else end(line.act);
    });
    pick.onDidHide(() => end('gone'));
    pick.show();
  });
}

function toItem(line: ApprovalLine): LineItem {
  if (line.kind === 'heading') return { label: line.text, kind: QuickPickItemKind.Separator, line };
  const icon = line.kind === 'act' ? icons[line.act] : undefined;
  return {
    label: line.text,
    alwaysShow: line.kind === 'act',
    ...(line.note !== undefined && { [line.kind === 'act' ? 'description' : 'detail']: line.note }),
    ...(icon !== undefined && { iconPath: new ThemeIcon(icon) }),
    line,
  };
}

const icons: Readonly<Record<ApprovalAct, string>> = {
  'allow-once': 'check',
  decline: 'close',
  grant: 'unlock',
  'open-text': 'book',
  explain: 'question',
  back: 'arrow-left',
};

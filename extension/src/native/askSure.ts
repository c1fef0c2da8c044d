import { ThemeIcon, window, type QuickPickItem } from 'vscode';

export interface SureQuestion {
  /** What would be done, as a question. */
  readonly title: string;
  /** What it means, in one line. */
  readonly placeholder: string;
  readonly act: { readonly label: string; readonly detail: string; readonly icon: string };
  readonly leave: string;
}

/**
 * Asks before something is done that a person may not have meant. True only where they chose the act, which is never the
 * first line, so that a key pressed too early does nothing.
 */
export function askSure({ title, placeholder, act, leave }: SureQuestion): Promise<boolean> {
  const acts: QuickPickItem = { label: act.label, detail: act.detail, iconPath: new ThemeIcon(act.icon) };
  const pick = window.createQuickPick();
  pick.title = title;
  pick.placeholder = placeholder;
  pick.ignoreFocusOut = true;
  pick.items = [{ label: leave, iconPath: new ThemeIcon('close') }, acts];
  return new Promise((resolve) => {
    const end = (isSure: boolean): void => {
      resolve(isSure);
      pick.dispose();
    };
    pick.onDidAccept(() => end(pick.selectedItems[0] === acts));
    pick.onDidHide(() => end(false));
    pick.show();
  });
}

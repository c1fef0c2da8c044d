import { QuickInputButtons, ThemeIcon, window, type QuickInputButton } from 'vscode';
import { showHidden } from '../../../../protocol/src/text.ts';
import { closeForgetting, forgetClosed } from '../../native/forgetText.ts';
import type { Secret } from '../core/secret.ts';
import { revealWords } from './vaultWords.ts';

const revealSeconds = 20;

/**
 * Shows a value in a box of VS Code's own for twenty seconds. It hides itself, and is no text of a document that other
 * extensions read, of a list that is kept, or of a webview. Resolves when it is gone.
 */
export function showValue(
  title: string,
  value: Secret,
  copy: (text: string) => Promise<void>,
  options: { readonly seconds?: number } = {},
): Promise<void> {
  const text = value.use((bytes) => bytes.toString('utf8'));
  return text.includes('\n') ? showLines(title, text, copy, options) : showLine(title, text, copy, options);
}

function copyButton(): QuickInputButton {
  return { iconPath: new ThemeIcon('copy'), tooltip: revealWords.copy() };
}

function showLine(
  title: string,
  text: string,
  copy: (text: string) => Promise<void>,
  { seconds = revealSeconds }: { readonly seconds?: number },
): Promise<void> {
  const box = window.createInputBox();
  box.title = title;
  box.ignoreFocusOut = true;
  box.buttons = [copyButton()];
  box.value = text;
  box.valueSelection = [0, 0];
  return untilHidden(
    box,
    seconds,
    (left) => (box.prompt = revealWords.hides(left)),
    copy,
    text,
    (isClosed) => {
      if (isClosed) forgetClosed(box);
      else closeForgetting(box);
    },
  );
}

/** Each line as a line of a list. What could not be seen, or would become an icon there, is shown escaped. */
function showLines(
  title: string,
  text: string,
  copy: (text: string) => Promise<void>,
  { seconds = revealSeconds }: { readonly seconds?: number },
): Promise<void> {
  const list = window.createQuickPick();
  const lines = text.replace(/\n$/, '').split('\n');
  const shown = lines.map((line) => showHidden(line).replaceAll('$(', '\\u{24}('));
  list.title = title;
  list.ignoreFocusOut = true;
  list.buttons = [copyButton()];
  list.items = shown.map((label) => ({ label, alwaysShow: true }));
  const note = shown.some((line, at) => line !== lines[at]) ? ` · ${revealWords.escaped()}` : '';
  const count = revealWords.lines(lines.length);
  return untilHidden(
    list,
    seconds,
    (left) => (list.placeholder = `${count} · ${revealWords.hides(left)}${note}`),
    copy,
    text,
    () => {
      list.items = [];
      list.dispose();
    },
  );
}

interface Shown {
  onDidHide(listener: () => void): unknown;
  onDidAccept(listener: () => void): unknown;
  onDidTriggerButton(listener: (button: QuickInputButton) => void): unknown;
  show(): void;
}

function untilHidden(
  input: Shown,
  seconds: number,
  say: (left: number) => void,
  copy: (text: string) => Promise<void>,
  text: string,
  close: (isClosed: boolean) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let left = seconds;
    say(left);
    let isOver = false;
    const end = (isClosed = false): void => {
      if (isOver) return;
      isOver = true;
      clearInterval(timer);
      close(isClosed);
      resolve();
    };
    const timer = setInterval(() => {
      left -= 1;
      if (left > 0) say(left);
      else end();
    }, 1000);
    input.onDidHide(() => end(true));
    input.onDidAccept(() => end());
    input.onDidTriggerButton((button) => {
      if (button !== QuickInputButtons.Back) void copy(text).finally(() => end());
    });
    input.show();
  });
}

import {
  QuickInputButtons,
  window,
  type InputBox,
  type QuickInputButton,
  type QuickPick,
  type QuickPickItem,
} from 'vscode';
import { closeForgetting } from './forgetText.ts';

/** How a step ended: with a value, with the way back, or closed. */
export type Step<T> = { readonly kind: 'value'; readonly value: T } | { readonly kind: 'back' | 'gone' };

interface Place {
  readonly title: string;
  readonly step: number;
  readonly totalSteps: number;
}

/** One choice of a list. `update` gives items that come later. */
export function pickStep<T extends QuickPickItem>(
  options: Place & {
    readonly placeholder: string;
    readonly items: readonly T[];
    readonly later?: (set: (items: readonly T[]) => void, signal: AbortSignal) => void;
  },
): Promise<Step<T>> {
  const pick = window.createQuickPick<T>();
  pick.items = options.items;
  pick.placeholder = options.placeholder;
  pick.matchOnDescription = true;
  const closing = new AbortController();
  const ended = run<T>(pick, options, (end) => {
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (chosen) end({ kind: 'value', value: chosen });
    });
  });
  options.later?.((items) => {
    if (closing.signal.aborted) return;
    const active = pick.activeItems[0]?.label;
    pick.items = items;
    pick.activeItems = items.filter(({ label }) => label === active);
  }, closing.signal);
  return ended.finally(() => closing.abort());
}

export interface TextOptions extends Place {
  readonly prompt: string;
  readonly placeholder?: string;
  readonly value?: string;
  readonly isSecret?: boolean;
  readonly check: (text: string) => string | undefined;
}

/** One line of text. `check` answers with what is wrong, or undefined; it is asked at each change and at Enter. */
export function textStep(options: TextOptions): Promise<Step<string>> {
  return textBox(options, undefined);
}

/** As `textStep`, with a button for another way; `other` is what it ends with. */
export function textStepOr<T>(
  options: TextOptions,
  other: { readonly button: QuickInputButton; readonly value: T },
): Promise<Step<string | T>> {
  return textBox<T>(options, other);
}

function textBox<T>(
  options: TextOptions,
  other: { readonly button: QuickInputButton; readonly value: T } | undefined,
): Promise<Step<string | T>> {
  const box = window.createInputBox();
  box.prompt = options.prompt;
  box.placeholder = options.placeholder ?? '';
  box.value = options.value ?? '';
  box.password = options.isSecret ?? false;
  return run<string | T>(box, options, (end) => {
    box.onDidChangeValue((text) => (box.validationMessage = text === '' ? undefined : options.check(text)));
    box.onDidAccept(() => {
      const problem = options.check(box.value);
      if (problem === undefined) end({ kind: 'value', value: box.value });
      else box.validationMessage = problem;
    });
    if (!other) return;
    box.buttons = [...box.buttons, other.button];
    box.onDidTriggerButton((button) => {
      if (button === other.button) end({ kind: 'value', value: other.value });
    });
  });
}

function run<T>(
  input: QuickPick<QuickPickItem> | InputBox,
  { title, step, totalSteps }: Place,
  listen: (end: (result: Step<T>) => void) => void,
): Promise<Step<T>> {
  input.title = title;
  // VS Code writes “(1/1)” behind the title of an only step.
  if (totalSteps > 1) {
    input.step = step;
    input.totalSteps = totalSteps;
  }
  input.ignoreFocusOut = true;
  input.buttons = step > 1 ? [QuickInputButtons.Back] : [];
  return new Promise((resolve) => {
    const end = (result: Step<T>): void => {
      resolve(result);
      if ('password' in input && input.password) closeForgetting(input);
      else input.dispose();
    };
    listen(end);
    input.onDidTriggerButton((button) => {
      if (button === QuickInputButtons.Back) end({ kind: 'back' });
    });
    input.onDidHide(() => end({ kind: 'gone' }));
    input.show();
  });
}

import { window } from 'vscode';
import { closeForgetting } from '../../native/forgetText.ts';

/**
 * A hidden line of text that stays open until `accept` has nothing to say against it, so that a typing error loses
 * nothing. Resolves with the text, or undefined where the box was closed.
 */
export function secretBox(options: {
  readonly title: string;
  readonly prompt: string;
  readonly isHidden?: boolean;
  /** What is wrong with it, in words. */
  readonly accept: (text: string) => Promise<string | undefined> | string | undefined;
}): Promise<string | undefined> {
  const box = window.createInputBox();
  box.title = options.title;
  box.prompt = options.prompt;
  box.password = options.isHidden ?? true;
  box.ignoreFocusOut = true;
  return new Promise((resolve, reject) => {
    const end = (text: string | undefined): void => {
      resolve(text);
      closeForgetting(box);
    };
    const submit = async (): Promise<void> => {
      const text = box.value;
      box.busy = true;
      box.enabled = false;
      try {
        const problem = await options.accept(text);
        if (problem === undefined) end(text);
        else box.validationMessage = problem;
      } finally {
        box.busy = false;
        box.enabled = true;
      }
    };
    box.onDidChangeValue(() => (box.validationMessage = undefined));
    box.onDidAccept(() => {
      submit().catch((error: unknown) => {
        reject(error instanceof Error ? error : new Error(String(error)));
        box.dispose();
      });
    });
    box.onDidHide(() => end(undefined));
    box.show();
  });
}

/** The same text twice. Undefined where a box was closed. */
export async function newSecret(options: {
  readonly title: string;
  readonly prompt: string;
  readonly repeat: string;
  readonly problem: (text: string) => string | undefined;
  readonly differs: string;
}): Promise<string | undefined> {
  const { title, prompt, repeat, problem, differs } = options;
  const first = await secretBox({ title, prompt, accept: problem });
  if (first === undefined) return undefined;
  return secretBox({
    title,
    prompt: repeat,
    accept: (text) => (text === first ? undefined : differs),
  });
}

import { window } from 'vscode';
import { UserError } from '../../protocol/src/errors.ts';
import type { Log } from './log.ts';
import { errorNotice, type Notice } from './messages.ts';

/** Shows notices, each freed of what must not be shown, without waiting for a person: a command is done when it has said what there is to say. */
export interface Notifier {
  /** Its action runs when a person chooses it. */
  show(notice: Notice): void;
  /**
   * What is no `UserError` goes to the log with its causes and is shown as one general sentence. A cancel shows nothing.
   */
  showError(error: unknown): void;
}

export function createNotifier(
  log: Log,
  runCommand: (id: string, ...args: unknown[]) => Promise<void>,
  scrub: (text: string) => string,
): Notifier {
  const ask = async ({ severity, text: written, action }: Notice): Promise<void> => {
    const text = scrub(written);
    const buttons = action ? [action.title] : [];
    const chosen = await {
      info: () => window.showInformationMessage(text, ...buttons),
      warning: () => window.showWarningMessage(text, ...buttons),
      error: () => window.showErrorMessage(text, ...buttons),
    }[severity]();
    if (action && chosen === action.title) await runCommand(action.command, ...(action.args ?? []));
  };
  const show = (notice: Notice): void => {
    ask(notice).catch((error: unknown) => log.error('Failed to show a notice', error));
  };
  return {
    show,
    showError: (error) => {
      const notice = errorNotice(error);
      if (!notice) return;
      if (!(error instanceof UserError) || error.code === 'internal') log.error('Failed', error);
      else log.warn(`${error.code}: ${error.message}`);
      show(notice);
    },
  };
}

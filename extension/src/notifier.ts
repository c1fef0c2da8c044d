import { window } from 'vscode';
import type { Log } from './log.ts';
import { errorNotice, type Notice } from './messages.ts';
import { UserError } from '../../protocol/src/errors.ts';

/** Shows notices. What is no `UserError` goes to the log with its causes and is shown as one general sentence. */
export interface Notifier {
  /** Resolves when the notice is gone and its action, if a person chose it, has run. */
  show(notice: Notice): Promise<void>;
  /** A cancel shows nothing. */
  showError(error: unknown): Promise<void>;
}

export function createNotifier(
  log: Log,
  runCommand: (id: string, ...args: unknown[]) => Promise<void>,
): Notifier {
  const show = async (notice: Notice): Promise<void> => {
    const { text, action } = notice;
    const buttons = action ? [action.title] : [];
    const chosen = await {
      info: () => window.showInformationMessage(text, ...buttons),
      warning: () => window.showWarningMessage(text, ...buttons),
      error: () => window.showErrorMessage(text, ...buttons),
    }[notice.severity]();
    if (action && chosen === action.title) await runCommand(action.command, ...(action.args ?? []));
  };
  return {
    show,
    showError: async (error) => {
      const notice = errorNotice(error);
      if (!notice) return;
      if (!(error instanceof UserError) || error.code === 'internal') log.error('Failed', error);
      else log.warn(`${error.code}: ${error.message}`);
      await show(notice);
    },
  };
}

import { commands } from 'vscode';
import type { CommandId, ContextKey } from './commandIds.ts';
import type { Disposable } from './disposable.ts';

/** What a command does. Arguments come from menus, keys, lenses and other extensions: check them. */
export type CommandHandler = (...args: unknown[]) => unknown;

/**
 * The only place that registers commands and sets context keys. What a handler throws goes to `onError`, so a command
 * always answers, and the caller of `executeCommand` gets `undefined` instead of an exception.
 */
export class CommandRegistry {
  readonly #onError: (id: CommandId, error: unknown) => void;

  constructor(onError: (id: CommandId, error: unknown) => void) {
    this.#onError = onError;
  }

  register(id: CommandId, handler: CommandHandler): Disposable {
    return commands.registerCommand(id, async (...args: unknown[]) => {
      try {
        return await handler(...args);
      } catch (error) {
        this.#onError(id, error);
        return undefined;
      }
    });
  }

  /** Runs one of ours. */
  async run(id: CommandId, ...args: unknown[]): Promise<void> {
    await commands.executeCommand(id, ...args);
  }

  /** Runs one of VS Code's own. */
  async runBuiltin(id: string, ...args: unknown[]): Promise<void> {
    await commands.executeCommand(id, ...args);
  }

  async setContext(key: ContextKey, value: boolean): Promise<void> {
    await commands.executeCommand('setContext', key, value);
  }
}

import { createHash } from 'node:crypto';
import { env } from 'vscode';
import type { Disposable } from '../../disposable.ts';

const clipboardLifeMs = 30_000;

/**
 * Puts values into the clipboard and takes them out again after half a minute, where they are still there. Only a digest
 * is kept meanwhile. A history of the clipboard that the system keeps is out of reach.
 */
export class VaultClipboard implements Disposable {
  #held: { readonly digest: string; readonly timer: NodeJS.Timeout } | undefined;

  async put(text: string): Promise<void> {
    clearTimeout(this.#held?.timer);
    await env.clipboard.writeText(text);
    const digest = digestOf(text);
    this.#held = {
      digest,
      timer: setTimeout(() => void this.clear().catch(() => undefined), clipboardLifeMs),
    };
  }

  /** Clears it now where it holds what was put there. */
  async clear(): Promise<void> {
    const held = this.#held;
    this.#held = undefined;
    clearTimeout(held?.timer);
    if (held && digestOf(await env.clipboard.readText()) === held.digest) await env.clipboard.writeText('');
  }

  dispose(): void {
    void this.clear().catch(() => undefined);
  }
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

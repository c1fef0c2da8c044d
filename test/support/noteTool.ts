import * as z from 'zod/mini';
import type { EffectKind } from '../../protocol/src/gate.ts';
import { about, defineTool } from '../../language-server/src/agent/tools/defineTool.ts';
import type { Tool } from '../../language-server/src/agent/tools/tool.ts';

/** What a tool of a test did. */
export interface NoteLog {
  readonly done: string[];
  /** Awaited in the middle of the effect. */
  hold?: (text: string, signal: AbortSignal) => Promise<unknown>;
}

/** Tools of a test under names of the catalogue: each notes that it ran, and is judged by the real gate. */
export function noteTools(log: NoteLog): Tool[] {
  const make = (name: string, effect: EffectKind) =>
    defineTool({
      name,
      description: `The ${name} tool of a test.`,
      input: z.strictObject({ text: about('Any text.', z.string()) }),
      list: 'ordinary',
      effect,
      async prepare({ text }) {
        return {
          args: { text },
          permissions: [],
          measure: async () => [
            { kind: 'path', name: 'notes.md', measure: null, isProtected: false, isOutside: false },
          ],
          describe: () => ({ title: `Use ${name} on ${text}`, lines: [], fullText: null }),
          async run(signal) {
            log.done.push(`${name} ${text}`);
            await log.hold?.(text, signal);
            return { text: `${name} did ${text}`, isError: false };
          },
        };
      },
    });
  return [make('read', 'ask'), make('edit', 'write'), make('delete', 'delete')];
}

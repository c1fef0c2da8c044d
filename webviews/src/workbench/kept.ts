import * as z from 'zod/mini';
import { mention } from '../../../protocol/src/agent.ts';
import type { Draft } from './composer.tsx';

const kept = z.object({ draft: z.object({ text: z.string(), mentions: z.array(mention) }) });

/** What an earlier page of this view left: what was typed and not sent. */
export function readKept(state: unknown): { readonly draft: Draft } {
  const parsed = z.safeParse(kept, state);
  return parsed.success ? parsed.data : { draft: { text: '', mentions: [] } };
}

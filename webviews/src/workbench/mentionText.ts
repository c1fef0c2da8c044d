import type { Mention } from '../../../protocol/src/agent.ts';

/** The `@word` that the caret stands in, and where it is; undefined where there is none. */
export function mentionAt(text: string, caret: number): { query: string; from: number } | undefined {
  const query = /(?:^|\s)@([^\s@]*)$/.exec(text.slice(0, caret))?.[1];
  return query === undefined ? undefined : { query, from: caret - query.length - 1 };
}

/** A mention in a few words. */
export function mentionLabel(mention: Mention): string {
  switch (mention.kind) {
    case 'file':
      return mention.path;
    case 'selection':
      return `${mention.path}:${mention.fromLine}–${mention.toLine}`;
    case 'problem':
      return `${mention.path}:${mention.line}`;
    case 'card':
      return mention.card;
    case 'run':
      return mention.runId;
    case 'symbol':
      return mention.name;
  }
}

/** The same for two mentions of the same thing. */
export function mentionKey(mention: Mention): string {
  return JSON.stringify(mention);
}

import { useEffect, useRef, useState } from 'react';
import type { Item } from '../../../protocol/src/agent.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { Announcer, LiveRegion } from '../ui/liveRegion.tsx';
import { showProse } from './showProse.ts';
import { workbenchWords as words } from './workbenchWords.ts';

/** Says what is new to a screen reader, at most every 1.5 seconds: whole answers and states, never single words. */
export function Announcements({
  items,
  waiting,
}: {
  readonly items: readonly Item[];
  readonly waiting: number;
}) {
  const [announcer] = useState(() => new Announcer(1500, summarise));
  const before = useRef(items);
  useEffect(() => {
    announcer.announce(...newSentences(before.current, items));
    before.current = items;
  }, [items, announcer]);
  useEffect(() => {
    if (waiting > 0) announcer.announce(words.waitingBanner(waiting));
  }, [waiting, announcer]);
  return <LiveRegion announcer={announcer} />;
}

/** What of these rows is worth saying. A whole other list is not read out: it was opened, it did not happen. */
function newSentences(before: readonly Item[], after: readonly Item[]): string[] {
  if (before === after || after.length === 0) return [];
  const known = new Map(before.map((item) => [item.seq, item]));
  const last = before.at(-1)?.seq ?? 0;
  if (before.length > 0 && !after.some(({ seq }) => known.has(seq))) return [];
  return after
    .filter((item) => item.seq >= (before[0]?.seq ?? 0) && (item.seq > last || known.has(item.seq)))
    .flatMap((item) => sentenceOf(item, known.get(item.seq)));
}

function sentenceOf(item: Item, before: Item | undefined): string[] {
  if (item === before) return [];
  switch (item.kind) {
    case 'answer': {
      const ended =
        item.ending !== 'streaming' && (before?.kind !== 'answer' || before.ending === 'streaming');
      if (ended) {
        return [words.answerSaid(showProse(item.markdown.slice(0, 600))), words.endings[item.ending]].filter(
          (text) => text !== '',
        );
      }
      return before ? [] : [words.answering];
    }
    case 'tool':
      return before?.kind === 'tool' && before.state === item.state
        ? []
        : [words.toolSaid(showHidden(item.title), words.toolStates[item.state])];
    case 'notice':
      return before ? [] : [showProse(item.text)];
    case 'person':
    case 'summary':
      return [];
  }
}

function summarise(sentences: readonly string[]): string {
  return sentences.length <= 5 ? sentences.join('. ') : words.manySaid(sentences.length);
}

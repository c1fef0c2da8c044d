import { useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react';
import type { ConversationSummary, Item } from '../../../protocol/src/agent.ts';
import { Icon } from '../ui/icon.tsx';
import { Row } from './row.tsx';
import { keepRows, lastRows, moveDown, moveUp, type RowRange } from './rowWindow.ts';
import { turnEnds } from './turns.ts';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

export interface ConversationViewProps {
  readonly summary: ConversationSummary;
  readonly items: readonly Item[];
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

/** How near to an end of the loaded rows more are brought in. */
const nearPx = 800;

/**
 * The rows of a conversation. Only some are in the page; those around the place that a person reads keep their place
 * when rows come and go. It follows the end until a person scrolls up.
 */
export function ConversationView({ summary, items, hasOlder, hasNewer }: ConversationViewProps) {
  const client = useClient();
  const box = useRef<HTMLDivElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const [follows, setFollows] = useState(true);
  const range = useRange(items, follows && !hasNewer);
  const ends = useMemo(() => turnEnds(items, summary.state), [items, summary.state]);
  const anchor = useAnchor(box, content);
  const asked = useRef<Item | undefined>(undefined);

  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    if (follows && !hasNewer) element.scrollTop = element.scrollHeight;
    else anchor.restore();
  });
  useLayoutEffect(() => {
    // What grows by itself (fonts, a code block that is opened) must not push the end out of view.
    const observer = new ResizeObserver(() => {
      const element = box.current;
      if (element && follows && !hasNewer) element.scrollTop = element.scrollHeight;
    });
    if (content.current) observer.observe(content.current);
    if (box.current) observer.observe(box.current);
    return () => observer.disconnect();
  }, [follows, hasNewer]);

  const bringMore = (element: HTMLDivElement, below: number): void => {
    const ask = (at: Item | undefined, read: () => void) => {
      if (asked.current === at) return;
      asked.current = at;
      read();
    };
    if (element.scrollTop < nearPx) {
      if (range.first > 0) range.set(moveUp(range));
      else if (hasOlder) ask(items[0], client.readOlder);
    } else if (below < nearPx) {
      if (range.end < items.length) range.set(moveDown(range, items.length));
      else if (hasNewer) ask(items.at(-1), client.readNewer);
    }
  };
  const onScroll = () => {
    const element = box.current;
    if (!element) return;
    const below = element.scrollHeight - element.scrollTop - element.clientHeight;
    const isAtEnd = below < 24 && range.end === items.length && !hasNewer;
    setFollows(isAtEnd);
    anchor.remember();
    if (!isAtEnd) bringMore(element, below);
  };
  useLayoutEffect(() => {
    // Rows that were asked for are here: at the very edge no scrolling would bring them in.
    const element = box.current;
    if (!element || follows) return;
    bringMore(element, element.scrollHeight - element.scrollTop - element.clientHeight);
    // Only a change of the list matters here; scrolling has its own handler.
  }, [items]);
  const showEnd = () => {
    if (hasNewer) client.showLatest();
    range.set(lastRows(items.length));
    setFollows(true);
  };
  // Whoever sends a message wants to see its answer, wherever they were reading.
  const sent = items.findLast(({ kind }) => kind === 'person')?.seq ?? 0;
  const seen = useRef(sent);
  useEffect(() => {
    if (sent > seen.current) showEnd();
    seen.current = sent;
  }, [sent]);
  const isAtStart = range.first === 0;
  return (
    <div className="conversation">
      <div
        className="rows"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={words.log(summary.title)}
        tabIndex={0}
        onScroll={onScroll}
      >
        <div className="rows-content" ref={content}>
          {isAtStart && items.length > 0 ? (
            <p className="aside edge">{hasOlder ? words.older : words.beginning}</p>
          ) : null}
          {items.slice(range.first, range.end).map((item) => (
            <Row key={item.seq} item={item} end={ends.get(item.seq)} />
          ))}
        </div>
      </div>
      {follows ? null : (
        <button type="button" className="to-end" onClick={showEnd}>
          <Icon name="down" />
          {words.latest}
        </button>
      )}
    </div>
  );
}

/** The range of rows in the page, moved along with the list it belongs to. */
function useRange(items: readonly Item[], follows: boolean) {
  const [held, setHeld] = useState<{ items: readonly Item[]; range: RowRange }>(() => ({
    items,
    range: lastRows(items.length),
  }));
  let { range } = held;
  if (held.items !== items) {
    if (follows) range = lastRows(items.length);
    else {
      const seq = held.items[range.first]?.seq ?? 0;
      const at = items.findIndex((item) => item.seq >= seq);
      range = keepRows(range, (at < 0 ? items.length : at) - range.first, items.length);
    }
    setHeld({ items, range });
  }
  const set = useCallback((next: RowRange) => setHeld((now) => ({ ...now, range: next })), []);
  return { ...range, set };
}

/** Keeps the first row in view where it is while rows above it come and go. */
function useAnchor(
  box: { readonly current: HTMLDivElement | null },
  content: { readonly current: HTMLDivElement | null },
) {
  const held = useRef<{ seq: string; top: number } | undefined>(undefined);
  return {
    remember: () => {
      const top = box.current?.getBoundingClientRect().top ?? 0;
      for (const row of content.current?.querySelectorAll<HTMLElement>('[data-seq]') ?? []) {
        const at = row.getBoundingClientRect();
        if (at.bottom <= top) continue;
        held.current = { seq: row.dataset['seq'] ?? '', top: at.top };
        return;
      }
    },
    restore: () => {
      const { current } = held;
      const row = current && content.current?.querySelector(`[data-seq="${CSS.escape(current.seq)}"]`);
      if (!row || !box.current) return;
      const moved = row.getBoundingClientRect().top - current.top;
      if (Math.abs(moved) > 1) box.current.scrollTop += moved;
    },
  };
}

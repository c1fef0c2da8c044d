import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import type { CardRunView, LogLine } from '../../../protocol/src/engine.ts';
import { Button } from '../ui/button.tsx';
import { byteSize } from '../ui/figures.ts';
import { visibleText } from '../ui/visibleText.ts';
import { WindowedRows, type WindowedRowsHandle } from '../ui/windowedRows.tsx';
import { words } from '../ui/words.ts';
import { LogPages } from './logPages.ts';
import { findLines } from './findLines.ts';
import type { RunClient } from './runClient.ts';

const linePx = 18;

/** The log of one card: windowed, follows its end until a person scrolls up, find and copy over what is loaded. */
export function LogPane({ card, client }: { readonly card: CardRunView; readonly client: RunClient }) {
  const { cardRunId } = card.status;
  const pages = useMemo(() => new LogPages(), [cardRunId]);
  pages.grow(card.logLines);
  const [, setVersion] = useState(0);
  const [follows, setFollows] = useState(true);
  const [needle, setNeedle] = useState('');
  const [at, setAt] = useState(0);
  const [said, setSaid] = useState('');
  const rows = useRef<WindowedRowsHandle>(null);
  const shown = useRef({ first: 0, end: 0 });

  const onWindow = useCallback(
    (first: number, end: number) => {
      shown.current = { first, end };
      for (const request of pages.missing(first, end)) {
        client.readLog(cardRunId, request).then(
          ({ lines, totalLines }) => {
            pages.store(request, lines, totalLines);
            setVersion((version) => version + 1);
          },
          () => pages.forget(request),
        );
      }
    },
    [pages, client, cardRunId],
  );
  const total = pages.totalLines;
  useEffect(() => {
    if (follows) rows.current?.showEnd();
  }, [total, follows]);

  const matches = needle === '' ? [] : findLines(pages.loaded(), needle);
  const matchSet = new Set(matches);
  const current = matches[Math.min(at, matches.length - 1)];
  const step = (by: number) => {
    if (matches.length === 0) return;
    const next = (Math.min(at, matches.length - 1) + by + matches.length) % matches.length;
    setAt(next);
    setFollows(false);
    rows.current?.showRow(matches[next] ?? 0);
  };
  const copy = () => {
    const lines = [...pages.loaded()].map(([, line]) => visibleText(line.text));
    void navigator.clipboard.writeText(lines.join('\n')).then(
      () => setSaid(words.log.copied(lines.length)),
      (error: unknown) => setSaid(words.failed(String(error))),
    );
  };

  if (total === 0) return <p className="nothing">{words.log.empty}</p>;
  return (
    <div className="log">
      <div className="pane-bar">
        <span className="muted">{words.log.lines(total)}</span>
        {card.logCutBytes > 0 ? (
          <span className="muted">{words.log.dropped(byteSize(card.logCutBytes))}</span>
        ) : null}
        <span className="spring" role="status">
          {said}
        </span>
        <input
          className="input"
          type="search"
          placeholder={words.log.find}
          aria-label={words.log.find}
          value={needle}
          onChange={(event) => {
            setNeedle(event.target.value);
            setAt(0);
          }}
          onKeyDown={(event) => {
            if (event.key === 'Enter') step(event.shiftKey ? -1 : 1);
          }}
        />
        {needle === '' ? null : (
          <>
            <span className="muted" role="status">
              {words.log.matches(
                matches.length === 0 ? 0 : Math.min(at, matches.length - 1) + 1,
                matches.length,
              )}
            </span>
            <Button iconOnly icon="up" label={words.log.previous} onClick={() => step(-1)} />
            <Button iconOnly icon="down" label={words.log.next} onClick={() => step(1)} />
          </>
        )}
        <Button iconOnly icon="copy" label={words.log.copy} onClick={copy} />
        <label className="check">
          <input type="checkbox" checked={follows} onChange={(event) => setFollows(event.target.checked)} />
          {words.log.follow}
        </label>
      </div>
      <WindowedRows
        handle={rows}
        label={words.log.label(card.title)}
        role="log"
        rows={total}
        rowPx={linePx}
        onWindow={onWindow}
        onScrolled={(atEnd) => setFollows((before) => (before ? atEnd : before))}
        row={(index) => (
          <Line
            key={index}
            number={index + 1}
            line={pages.line(index)}
            isMatch={matchSet.has(index)}
            isCurrent={index === current}
          />
        )}
      />
    </div>
  );
}

interface LineProps {
  readonly number: number;
  readonly line: LogLine | undefined;
  readonly isMatch: boolean;
  readonly isCurrent: boolean;
}

function Line({ number, line, isMatch, isCurrent }: LineProps) {
  const isError = line?.stream === 'stderr';
  const classes = ['line', isError && 'line-err', isMatch && 'line-match', isCurrent && 'line-current'];
  return (
    <div className={classes.filter((name) => name !== false).join(' ')}>
      <span className="line-number">{number}</span>
      <span className="line-stream">{isError ? words.log.stderr : ''}</span>
      <span className="line-text">
        {line ? visibleText(line.text) : words.log.loading}
        {line && line.cutBytes > 0 ? <em> {words.log.cut(byteSize(line.cutBytes))}</em> : null}
      </span>
    </div>
  );
}

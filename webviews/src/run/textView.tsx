import { useMemo } from 'react';
import { visibleText } from '../ui/visibleText.ts';
import { WindowedRows } from '../ui/windowedRows.tsx';

const linePx = 18;
const longestShown = 4000;

/** Text of any length, as text: windowed, in the editor's font. */
export function TextView({ name, text }: { readonly name: string; readonly text: string }) {
  const lines = useMemo(() => text.replace(/\r?\n$/, '').split(/\r?\n/), [text]);
  return (
    <div className="text">
      <WindowedRows
        label={name}
        role="region"
        rows={lines.length}
        rowPx={linePx}
        row={(index) => (
          <div className="line" key={index}>
            <span className="line-number">{index + 1}</span>
            <span className="line-text">{visibleText((lines[index] ?? '').slice(0, longestShown))}</span>
          </div>
        )}
      />
    </div>
  );
}

/** JSON with two spaces; a text that is not JSON stays as it is. */
export function prettyJson(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

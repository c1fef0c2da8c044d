import type { appRequests } from '../../../protocol/src/apps.ts';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import { showHiddenLines } from '../../../protocol/src/text.ts';
import { appWords } from '../appMessages.ts';
import { columns } from '../documents/columns.ts';
import type { Report } from '../documents/reportTexts.ts';
import { timestamp } from '../figures.ts';
import { plain } from '../plainText.ts';

type LogLines = ResultOf<(typeof appRequests)['app/log']>;

/** What an app and its plugins wrote and what Sallyport noted of them, oldest first as the engine gives it. */
export function appLogReport(name: string, lines: LogLines): Report {
  const title = appWords.logTitle(name);
  // A line that an app writes never stands where a time and a source stand.
  const rows = lines.flatMap(({ at, source, text }) =>
    showHiddenLines(text)
      .split('\n')
      .map((line, index) => (index === 0 ? [timestamp(at), plain(source), line] : ['', '', line])),
  );
  const body = rows.length === 0 ? appWords.logEmpty() : columns(rows);
  return { title, text: `${title}\n${'='.repeat(Array.from(title).length)}\n\n${body}\n` };
}

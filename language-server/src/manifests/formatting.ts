import { format } from 'jsonc-parser';
import type { FormattingOptions, TextEdit } from 'vscode-languageserver';
import type { ManifestContext } from './manifestContext.ts';
import { rangeOf } from './positions.ts';
import type { Span } from './problem.ts';

/** The edits that lay a manifest out, or the lines of a part of it. Only white space changes. */
export function formatting(context: ManifestContext, options: FormattingOptions, part?: Span): TextEdit[] {
  const { text, lines } = context;
  const range = part && { offset: part.start, length: part.end - part.start };
  return format(text, range, {
    tabSize: options.tabSize,
    insertSpaces: options.insertSpaces,
    insertFinalNewline: options.insertFinalNewline ?? false,
    eol: text.includes('\r\n') ? '\r\n' : '\n',
  }).map(({ offset, length, content }) => ({
    range: rangeOf(lines, { start: offset, end: offset + length }),
    newText: content,
  }));
}

import { memo } from 'react';
import { showHiddenLines } from '../../../protocol/src/text.ts';
import { byteSize } from '../ui/figures.ts';
import { CopyButton } from './copyButton.tsx';
import { workbenchWords as words } from './workbenchWords.ts';

/** The most of a code block that is in the page. Copying gives all of it. */
const shownCharacters = 64 * 1024;

export interface CodeBlockProps {
  readonly text: string;
  readonly language: string;
}

/** Code as text, with what a reader would not see escaped. Nothing colours or draws it. */
export const CodeBlock = memo(function CodeBlock({ text, language }: CodeBlockProps) {
  const isCut = text.length > shownCharacters;
  const shown = showHiddenLines(isCut ? text.slice(0, shownCharacters) : text);
  return (
    <figure className="code-block" aria-label={words.code(language)}>
      <figcaption>
        <span>{language}</span>
        <CopyButton label={words.copyCode} text={text} />
      </figcaption>
      <pre tabIndex={0}>
        <code>{shown}</code>
      </pre>
      {isCut ? (
        <p className="aside">{words.plainCut(byteSize(shownCharacters), byteSize(text.length))}</p>
      ) : null}
    </figure>
  );
});

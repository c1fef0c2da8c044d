import { memo, useLayoutEffect, useMemo, useRef, type KeyboardEvent, type MouseEvent } from 'react';
import { showProse } from './showProse.ts';
import { byteSize } from '../ui/figures.ts';
import { BlockSplitter, longestBlock, type Block } from './blocks.ts';
import { CodeBlock } from './codeBlock.tsx';
import { createMarkdownParser } from './markdownParser.ts';
import { sanitize } from './sanitize.ts';
import { useClient } from './workbenchClient.ts';
import { workbenchWords as words } from './workbenchWords.ts';

const parser = createMarkdownParser();

/** What a model wrote. Blocks that are whole are drawn once, however long the answer grows. */
export const MarkdownView = memo(function MarkdownView({ source }: { readonly source: string }) {
  const splitter = useMemo(() => new BlockSplitter(parser), []);
  const client = useClient();
  const follow = (event: MouseEvent | KeyboardEvent) => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>('a[data-to]') : null;
    const address = link?.dataset['to'];
    if (address === undefined) return;
    event.preventDefault();
    client.act('openLink', { value: address });
  };
  return (
    // Its links are in the tab order by themselves; this only hears what they do.
    <div
      className="markdown"
      onClick={follow}
      onKeyDown={(event) => {
        if (event.key === 'Enter') follow(event);
      }}
    >
      {splitter.read(source).map((block, index) => (
        <BlockView key={index} kind={block.kind} text={block.text} language={block.language} />
      ))}
    </div>
  );
});

const BlockView = memo(function BlockView({ kind, text, language }: Block) {
  if (kind === 'code') return <CodeBlock text={text} language={language} />;
  if (text.length > longestBlock) return <PlainBlock text={text} />;
  return <MarkupBlock text={text} />;
});

function MarkupBlock({ text }: { readonly text: string }) {
  const box = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    box.current?.replaceChildren(sanitize(parser.render(showProse(text))));
  }, [text]);
  return <div className="block" dir="auto" ref={box} />;
}

/** A block that is too long to be read as Markdown in the time of a frame. */
function PlainBlock({ text }: { readonly text: string }) {
  return (
    <div className="block plain-block">
      {showProse(text.slice(0, longestBlock))}
      <p className="aside">{words.plainCut(byteSize(longestBlock), byteSize(text.length))}</p>
    </div>
  );
}

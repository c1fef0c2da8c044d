import type { Node } from 'jsonc-parser';
import { removeFix } from './edits.ts';
import { at, itemsOf, membersOf, spanOf, textOf } from './nodes.ts';
import type { Span } from './problem.ts';

/** An input as it is written, right or wrong. */
export interface InputFact {
  readonly type: string | undefined;
  readonly typeAt: Span | undefined;
  readonly from: string | undefined;
  /** Of `from` where it is written, else of the port's id. */
  readonly at: Span;
  /** What to cut out to be rid of the wire. */
  readonly wire: Span;
}

export interface OutputFact {
  readonly type: string | undefined;
  /** Of the type where it is written, else of the port's id. */
  readonly at: Span;
  readonly idAt: Span;
}

/** What checks across cards need of one card, with its places, so that its text need not be kept. */
export interface CardFacts {
  /** False where the text is broken so far that a missing port proves nothing. */
  readonly complete: boolean;
  readonly inputs: ReadonlyMap<string, InputFact>;
  readonly outputs: ReadonlyMap<string, OutputFact>;
  readonly environmentSources: readonly { readonly id: string; readonly at: Span }[];
  /** The output that is shown. */
  readonly view: { readonly port: string; readonly at: Span } | undefined;
  /** The entry file; absent for a `command`. */
  readonly entry: { readonly path: string; readonly at: Span } | undefined;
}

/** Entries that are looked at; the schema refuses a longer list. */
const mostSources = 100;

/** What a card's text says, with places; `complete` is false where it does not parse, and then what was read counts. */
export function cardFacts(text: string, root: Node | undefined, complete: boolean): CardFacts {
  const inputs = new Map<string, InputFact>();
  for (const { key, keyNode, value } of membersOf(at(root, 'inputs'))) {
    const from = at(value, 'from');
    const { start, end } = from?.parent ? removeFix(text, spanOf(from.parent), '') : spanOf(keyNode);
    const type = at(value, 'type');
    inputs.set(key, {
      type: textOf(type),
      typeAt: type && spanOf(type),
      from: textOf(from),
      at: spanOf(from ?? keyNode),
      wire: { start, end },
    });
  }
  const outputs = new Map<string, OutputFact>();
  for (const { key, keyNode, value } of membersOf(at(root, 'outputs'))) {
    const type = at(value, 'type');
    outputs.set(key, { type: textOf(type), at: spanOf(type ?? keyNode), idAt: spanOf(keyNode) });
  }
  const entry = at(root, 'entry');
  const path = textOf(at(root, 'runtime')) === 'command' ? undefined : textOf(entry);
  const view = at(root, 'view', 'output');
  const viewPort = textOf(view);
  return {
    complete,
    inputs,
    outputs,
    environmentSources: itemsOf(at(root, 'permissions', 'environmentSources'))
      .slice(0, mostSources)
      .flatMap((source) => {
        const id = textOf(source);
        return id === undefined ? [] : [{ id, at: spanOf(source) }];
      }),
    view: view && viewPort !== undefined ? { port: viewPort, at: spanOf(view) } : undefined,
    entry: entry && path ? { path, at: spanOf(entry) } : undefined,
  };
}

import type { Connection, ConversationSummary, Item, Mention } from '../../../protocol/src/agent.ts';
import { mergeRows, type RowsDelta } from '../../../protocol/src/rows.ts';

/** What the extension says at the start and whenever another conversation is shown. */
export interface WorkbenchShown {
  readonly projectName: string | null;
  readonly trusted: boolean;
  readonly connections: readonly Connection[];
  readonly conversation: ConversationSummary | null;
  readonly items: readonly Item[];
  readonly waiting: number;
  readonly recent: readonly ConversationSummary[];
}

/** What was put into the composer from outside; `stamp` tells one from the next. */
export interface Composed {
  readonly stamp: number;
  readonly text: string;
  readonly mentions: readonly Mention[];
}

export interface WorkbenchState {
  /** Undefined until the extension has spoken. */
  readonly shown: WorkbenchShown | undefined;
  readonly message: string | undefined;
  readonly composed: Composed | undefined;
  /** A delta was missed: the whole window is to be asked for again. */
  readonly isTorn: boolean;
  /** There may be rows before and after those that the page keeps. */
  readonly hasOlder: boolean;
  readonly hasNewer: boolean;
}

export type WorkbenchEvent =
  | { readonly type: 'state'; readonly shown: WorkbenchShown }
  | ({ readonly type: 'delta'; readonly summary: ConversationSummary } & RowsDelta)
  | { readonly type: 'older'; readonly id: string; readonly items: readonly Item[] }
  | { readonly type: 'newer'; readonly id: string; readonly items: readonly Item[] }
  | { readonly type: 'waiting'; readonly waiting: number }
  | { readonly type: 'connections'; readonly connections: readonly Connection[] }
  | { readonly type: 'compose'; readonly text: string; readonly mentions: readonly Mention[] }
  | { readonly type: 'message'; readonly text: string | undefined };

export const initialWorkbench: WorkbenchState = {
  shown: undefined,
  message: undefined,
  composed: undefined,
  isTorn: false,
  hasOlder: false,
  hasNewer: false,
};

/** The rows that the extension sends at once, and the most that the page keeps of a conversation of any length. */
const sentRows = 200;
export const keptRows = 600;

/** The next state. Rows that did not change keep their identity, so that only the others are drawn again. */
export function reduceWorkbench(state: WorkbenchState, event: WorkbenchEvent): WorkbenchState {
  switch (event.type) {
    case 'state':
      return {
        ...state,
        shown: event.shown,
        message: undefined,
        isTorn: false,
        hasOlder: event.shown.items.length >= sentRows,
        hasNewer: false,
      };
    case 'delta':
      return withDelta(state, event);
    case 'older':
      return withOlder(state, event.id, event.items);
    case 'newer':
      return withNewer(state, event.id, event.items);
    case 'waiting':
      return withShown(state, { waiting: event.waiting });
    case 'connections':
      return withShown(state, { connections: event.connections });
    case 'compose':
      return {
        ...state,
        composed: {
          stamp: (state.composed?.stamp ?? 0) + 1,
          text: event.text,
          mentions: event.mentions,
        },
      };
    case 'message':
      return { ...state, message: event.text };
  }
}

function withDelta(
  state: WorkbenchState,
  { summary, items, text }: RowsDelta & { readonly summary: ConversationSummary },
): WorkbenchState {
  const { shown } = state;
  if (shown?.conversation?.id !== summary.id) return state;
  // While a person reads further up, rows after the window are not here and must not leave a hole.
  const last = state.hasNewer ? (shown.items.at(-1)?.seq ?? 0) : Infinity;
  const known = items.filter(({ seq }) => seq <= last);
  const merged = mergeRows(
    shown.items,
    { items: known, text: text && text.seq <= last ? text : null },
    keptRows,
  );
  return {
    ...state,
    shown: { ...shown, conversation: summary, items: merged.items },
    isTorn: state.isTorn || !merged.isWhole,
    hasOlder: state.hasOlder || merged.items[0]?.seq !== (shown.items[0] ?? merged.items[0])?.seq,
  };
}

function withOlder(state: WorkbenchState, id: string, older: readonly Item[]): WorkbenchState {
  const { shown } = state;
  if (shown?.conversation?.id !== id) return state;
  const first = shown.items[0]?.seq ?? Infinity;
  const items = [...older.filter(({ seq }) => seq < first), ...shown.items];
  return {
    ...state,
    shown: { ...shown, items: items.slice(0, keptRows) },
    hasOlder: older.length > 0,
    hasNewer: state.hasNewer || items.length > keptRows,
  };
}

function withNewer(state: WorkbenchState, id: string, newer: readonly Item[]): WorkbenchState {
  const { shown } = state;
  if (shown?.conversation?.id !== id) return state;
  const last = shown.items.at(-1)?.seq ?? 0;
  const added = newer.filter(({ seq }) => seq > last);
  const items = [...shown.items, ...added];
  return {
    ...state,
    shown: { ...shown, items: items.slice(-keptRows) },
    hasOlder: state.hasOlder || items.length > keptRows,
    hasNewer: added.length > 0,
  };
}

function withShown(state: WorkbenchState, change: Partial<WorkbenchShown>): WorkbenchState {
  return state.shown ? { ...state, shown: { ...state.shown, ...change } } : state;
}

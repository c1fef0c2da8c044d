import type { Item } from '../../../../protocol/src/agent.ts';
import type { StoredConversation } from '../conversations/conversationRecords.ts';
import type { RowDraft, Transcript } from '../conversations/transcript.ts';
import type { Wire, WireOf } from '../conversations/wire.ts';
import type { AnswerListener, WrittenCall, Answer } from './answer.ts';

export type ToolRow = Extract<Item, { kind: 'tool' }>;
export type AnswerRow = Extract<Item, { kind: 'answer' }>;

/** A call of one answer with its row. */
export interface RowedCall {
  readonly call: WrittenCall;
  row: ToolRow;
  wire: WireOf<'tool'>;
}

export interface AnswerPlace {
  readonly conversation: StoredConversation;
  readonly turn: number;
  readonly connection: string;
  readonly model: string;
  /** Runs `run` after `ms`; answers with what takes that back. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/** How much of a streaming answer a crash may cost, in time. */
const saveMs = 1000;
const longestDetail = 32 * 1024;

/** The rows of one answer while it comes: its text, and one for each call that it writes. */
export class AnswerRows implements AnswerListener {
  readonly #place: AnswerPlace;
  readonly #transcript: Transcript;
  readonly #calls = new Map<string, RowedCall>();
  readonly #all: RowedCall[] = [];
  #answer: AnswerRow | undefined;
  #step = 0;
  #stopSave: (() => void) | undefined;

  constructor(transcript: Transcript, place: AnswerPlace) {
    this.#transcript = transcript;
    this.#place = place;
  }

  get calls(): readonly RowedCall[] {
    return this.#all;
  }

  get hasText(): boolean {
    return this.#answer !== undefined && this.#answer.markdown !== '';
  }

  text(append: string): void {
    const answer = this.#begin();
    const at = answer.markdown.length;
    this.#answer = { ...answer, markdown: answer.markdown + append };
    this.#transcript.append(this.#place.conversation, answer.seq, at, append);
    this.#stopSave ??= this.#place.setTimer(() => {
      this.#stopSave = undefined;
      if (this.#answer) this.#transcript.save(this.#place.conversation, this.#answer);
    }, saveMs);
  }

  callBegan(id: string, name: string): void {
    if (!this.#calls.has(id)) this.#addCall({ id, name, args: '', metadata: null, isProviders: false });
  }

  call(call: WrittenCall): void {
    const known = this.#calls.get(call.id);
    // A second call under an id that is complete is one more row, and the loop refuses it.
    if (!known || known.call.args !== '') {
      this.#addCall(call);
      return;
    }
    const whole: RowedCall = {
      call,
      row: { ...known.row, tool: call.name, detail: detailOf(call.args, null) },
      wire: { ...known.wire, args: call.args, metadata: toMetadata(call.metadata) },
    };
    this.#all[this.#all.indexOf(known)] = whole;
    this.#calls.set(call.id, whole);
    this.#transcript.update(this.#place.conversation, whole.row, whole.wire);
  }

  /** The answer is over. Its thinking is kept for the same model. */
  end(ending: AnswerRow['ending'], answer?: Answer): void {
    this.#stopSave?.();
    this.#stopSave = undefined;
    if (!this.#answer && (answer?.reasoning.length ?? 0) > 0) this.#begin();
    if (!this.#answer) return;
    const { connection, model } = this.#place;
    this.#answer = { ...this.#answer, ending };
    this.#transcript.update(this.#place.conversation, this.#answer, {
      kind: 'answer',
      connection,
      model,
      reasoning: (answer?.reasoning ?? []).map(({ text, metadata }) => ({
        text,
        metadata: toMetadata(metadata),
      })),
    });
  }

  /** Changes the row of a call, and what the model is told of it. */
  setCall(rowed: RowedCall, row: Partial<ToolRow>, result?: { text: string; isError: boolean }): void {
    rowed.row = { ...rowed.row, ...row };
    if (result) {
      rowed.wire = { ...rowed.wire, result: result.text, isError: result.isError };
      rowed.row = { ...rowed.row, detail: detailOf(rowed.wire.args, result.text) };
    }
    this.#transcript.update(this.#place.conversation, rowed.row, rowed.wire);
  }

  #begin(): AnswerRow {
    if (this.#answer) return this.#answer;
    const { conversation, turn, connection, model } = this.#place;
    const wire: Wire = { kind: 'answer', connection, model, reasoning: [] };
    const draft = { kind: 'answer', turn, markdown: '', ending: 'streaming' } as const;
    const row = this.#transcript.add(conversation, draft, wire, this.#step) as AnswerRow;
    this.#step ||= row.seq;
    return (this.#answer = row);
  }

  #addCall(call: WrittenCall): void {
    const { conversation, turn, connection, model } = this.#place;
    const wireAt = (seq: number): WireOf<'tool'> => ({
      kind: 'tool',
      // The model's ids need not be unique over a conversation; these are.
      callId: `call_${seq}`,
      args: call.args,
      result: null,
      isError: false,
      connection,
      model,
      metadata: toMetadata(call.metadata),
      isProviders: call.isProviders,
    });
    const draft: RowDraft = {
      kind: 'tool',
      turn,
      opId: '',
      tool: call.name,
      title: call.name,
      state: call.isProviders ? 'done' : 'writing',
      detail: detailOf(call.args, null),
      waitMs: 0,
      runMs: 0,
      changes: [],
      runId: null,
    };
    const row = this.#transcript.add(conversation, draft, wireAt, this.#step) as ToolRow;
    this.#step ||= row.seq;
    const rowed = { call, row, wire: wireAt(row.seq) };
    this.#all.push(rowed);
    if (!this.#calls.has(call.id)) this.#calls.set(call.id, rowed);
  }
}

/** What opens under a call: arguments and result, bounded. */
export function detailOf(args: string, result: string | null): string {
  const whole = result === null ? args : `${args}\n\n${result}`;
  if (whole.length <= longestDetail) return whole;
  return `${whole.slice(0, longestDetail).toWellFormed()}\n[… ${whole.length - longestDetail} characters are not shown]`;
}

function toMetadata(value: unknown): WireOf<'tool'>['metadata'] {
  return value === null || value === undefined
    ? null
    : (JSON.parse(JSON.stringify(value)) as WireOf<'tool'>['metadata']);
}

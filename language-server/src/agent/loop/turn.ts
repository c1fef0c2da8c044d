import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { Connection } from '../../../../protocol/src/agent.ts';
import { compactionPrompt, lastMessageOf } from '../context/compaction.ts';
import { estimatePrompt, placeOf, toPrompt } from '../context/prompt.ts';
import { contextLimitOf, estimateTokens, toUsage, type ModelInfo } from '../context/tokens.ts';
import type { ConversationRecords, StoredConversation } from '../conversations/conversationRecords.ts';
import type { ItemRecords } from '../conversations/itemRecords.ts';
import type { Transcript } from '../conversations/transcript.ts';
import { failureText, ProviderFailure, retryText, toFailure } from '../providers/failures.ts';
import type { ConnectedModel } from '../providers/models.ts';
import type { ModelTool, Prompt } from '../providers/model.ts';
import type { Catalog } from '../catalog.ts';
import type { Answer, AnswerListener } from './answer.ts';
import { AnswerRows, type RowedCall } from './answerRows.ts';
import { refuseCalls, runCalls } from './calls.ts';
import { offeredTools } from './offeredTools.ts';
import { requestAnswer, type RequestParts } from './request.ts';

/** Requests that one message of a person may lead to. */
const mostSteps = 60;
/** Answers in a row that may be cut at the output limit before the turn ends. */
const mostCutAnswers = 2;
/** Part of the context that may be used before it is compacted by itself. */
const fullPart = 0.8;

export interface TurnParts extends RequestParts {
  readonly conversations: ConversationRecords;
  readonly items: ItemRecords;
  readonly transcript: Transcript;
  readonly catalog: Catalog;
  readonly connection: (id: string) => Connection | undefined;
  /** True where the person switched on the search of the provider. */
  readonly webSearch: () => boolean;
  readonly systemPrompt: (conversation: StoredConversation) => string;
}

export type TurnEnd = 'done' | 'failed' | 'stopped';

/** From one message of a person to the end of what the model does about it. */
export class Turn {
  readonly #parts: TurnParts;
  readonly #id: string;
  readonly #number: number;
  readonly #title: string;
  readonly #signal: AbortSignal;
  #current: { readonly rows: AnswerRows; readonly rowed: RowedCall } | null = null;

  constructor(parts: TurnParts, id: string, turn: { number: number; title: string }, signal: AbortSignal) {
    this.#parts = parts;
    this.#id = id;
    this.#number = turn.number;
    this.#title = turn.title;
    this.#signal = signal;
  }

  /** Never rejects for what a model or a provider does: that becomes rows. */
  async run(): Promise<TurnEnd> {
    try {
      return await this.#steps();
    } catch (error) {
      if (this.#signal.aborted) {
        if (isEnding(this.#signal.reason))
          this.#notice('warning', 'Sallyport ended in the middle of this. Send a message to go on.');
        return 'stopped';
      }
      this.#fail(errorText(error, this.#chosen()?.connection.name));
      return 'failed';
    }
  }

  /** Sums the conversation up. Returns the row of the summary; rejects with `ProviderFailure`. */
  async compact(): Promise<number> {
    const chosen = this.#chosen();
    if (!chosen) throw new ProviderFailure('connection', noModel);
    const { transcript } = this.#parts;
    const conversation = this.#conversation();
    const items = transcript.context(conversation, placeOf);
    const prompt = compactionPrompt(items, contextLimitOf(chosen.connection, chosen.model));
    let markdown = '';
    const listener = { text: (more: string) => void (markdown += more), callBegan: none, call: none };
    const answer = await this.#request(chosen, () => prompt, none2, listener);
    this.#count(chosen, answer, estimatePrompt(prompt), estimateTokens(markdown));
    if (markdown.trim() === '') throw new ProviderFailure('malformed', 'The summary was empty');
    const upTo = this.#conversation().lastSeq;
    const row = transcript.add(
      conversation,
      { kind: 'summary', turn: this.#number, markdown, replacedItems: items.length },
      { kind: 'summary', upTo, lastMessage: lastMessageOf(items) },
    );
    this.#parts.conversations.setContext(this.#id, estimateTokens(markdown));
    transcript.changed(conversation);
    return row.seq;
  }

  /** Tells by operation id whether the call that is under way waits for a person. */
  showWaiting(isWaiting: (callId: string) => boolean): boolean {
    if (!this.#current) return false;
    const { rows, rowed } = this.#current;
    const waits = isWaiting(rowed.row.opId);
    const state = waits ? 'waiting' : 'running';
    if (rowed.row.state !== state) rows.setCall(rowed, { state });
    return waits;
  }

  async #steps(): Promise<TurnEnd> {
    let cutAnswers = 0;
    let compacted = false;
    for (let step = 0; step < mostSteps; step++) {
      this.#signal.throwIfAborted();
      const chosen = this.#chosen();
      if (!chosen) {
        this.#fail(noModel);
        return 'failed';
      }
      if (this.#isFull(chosen)) await this.#compactIfPossible();
      const rows = new AnswerRows(this.#parts.transcript, {
        conversation: this.#conversation(),
        turn: this.#number,
        connection: chosen.connection.id,
        model: chosen.model,
        setTimer: this.#parts.setTimer,
      });
      let answer: Answer;
      try {
        answer = await this.#ask(chosen, rows);
      } catch (error) {
        rows.end(this.#signal.aborted ? 'stopped' : 'error');
        refuseCalls(
          rows,
          this.#signal.aborted
            ? 'Not run: the person stopped the answer.'
            : 'Not run: the answer with this call was cut off.',
        );
        const failure = this.#signal.aborted ? undefined : toFailure(error);
        if (failure?.kind !== 'too-long' || compacted) throw error;
        compacted = true;
        await this.compact();
        continue;
      }
      const isCut = answer.finish === 'length';
      rows.end(isCut ? 'output-limit' : 'complete', answer);
      const own = rows.calls.filter(({ call }) => !call.isProviders);
      if (answer.finish === 'content-filter') {
        refuseCalls(rows, 'Not run: the provider’s content filter ended this answer.');
        this.#notice('warning', 'The provider’s content filter ended this answer.');
        return 'done';
      }
      if (isCut) {
        refuseCalls(
          rows,
          'Not run: the answer was cut at the model’s output limit. Send it in smaller parts.',
        );
        if (own.length === 0 || ++cutAnswers > mostCutAnswers) {
          this.#notice(
            'warning',
            'The answer was cut at the model’s output limit; no call in it was run. Ask for smaller steps.',
          );
          return 'done';
        }
        continue;
      }
      cutAnswers = 0;
      if (own.length === 0) {
        if (!rows.hasText) this.#notice('info', 'The model answered nothing.');
        return 'done';
      }
      await this.#runCalls(rows);
    }
    this.#notice('warning', `Stopped after ${mostSteps} requests for one message. Send a message to go on.`);
    return 'done';
  }

  async #runCalls(rows: AnswerRows): Promise<void> {
    const { gate, catalog } = this.#parts;
    await runCalls(
      { gate, catalog },
      this.#conversation(),
      rows,
      this.#title,
      (rowed) => {
        this.#current = rowed && { rows, rowed };
      },
      this.#signal,
    );
  }

  async #ask(chosen: Chosen, rows: AnswerRows): Promise<Answer> {
    const conversation = this.#conversation();
    const items = this.#parts.transcript.context(conversation, placeOf);
    const system = this.#parts.systemPrompt(conversation);
    let sentTokens = 0;
    const prompt = ({ cacheMark }: ConnectedModel): Prompt => {
      const made = toPrompt({
        system,
        items,
        imagesOf: (seq) => (chosen.info?.images ? this.#parts.items.images(conversation.num, seq) : []),
        connection: chosen.connection.id,
        model: chosen.model,
        cacheMark,
      });
      sentTokens = estimatePrompt(made);
      return made;
    };
    const tools = ({ webSearch }: ConnectedModel) => [
      ...offeredTools(this.#parts.catalog, conversation.mode),
      ...(webSearch && this.#parts.webSearch() ? [webSearch] : []),
    ];
    let written = '';
    const answer = await this.#request(chosen, prompt, tools, {
      text: (append) => {
        written += append;
        rows.text(append);
      },
      callBegan: (id, name) => rows.callBegan(id, name),
      call: (call) => {
        written += call.args;
        rows.call(call);
      },
    });
    this.#count(chosen, answer, sentTokens, estimateTokens(written));
    return answer;
  }

  #request(
    { connection, model }: Chosen,
    prompt: (connected: ConnectedModel) => Prompt,
    tools: (connected: ConnectedModel) => readonly ModelTool[],
    listener: AnswerListener,
  ): Promise<Answer> {
    return requestAnswer(
      this.#parts,
      {
        conversation: this.#conversation(),
        connection,
        model,
        prompt,
        tools,
        listener,
        onSlow: () =>
          this.#notice('info', `${connection.name} has not begun to answer yet. Stop gives it up.`),
        onRetry: (failure, waitMs) => this.#notice('info', retryText(failure, connection.name, waitMs)),
      },
      this.#signal,
    );
  }

  #count(chosen: Chosen, answer: Answer, sentTokens: number, writtenTokens: number): void {
    const estimated = { inputTokens: sentTokens, outputTokens: writtenTokens, cachedTokens: 0, cost: null };
    const usage = toUsage(answer.usage, estimated, chosen.info);
    this.#parts.conversations.addUsage(this.#id, usage);
    this.#parts.conversations.setContext(this.#id, usage.inputTokens + usage.outputTokens);
    this.#parts.transcript.changed(this.#conversation());
  }

  #isFull({ connection, model }: Chosen): boolean {
    const limit = contextLimitOf(connection, model);
    if (limit === null) return false;
    const conversation = this.#conversation();
    if (conversation.contextTokens < limit * fullPart) return false;
    return this.#parts.transcript.context(conversation, placeOf).length > 2;
  }

  /** A summary that can't be made is told; the request may still fit. */
  async #compactIfPossible(): Promise<void> {
    try {
      await this.compact();
    } catch (error) {
      if (this.#signal.aborted) throw error;
      const why = errorText(error, this.#chosen()?.connection.name);
      this.#notice('warning', `The conversation is nearly full and could not be compacted. ${why}`);
    }
  }

  #chosen(): Chosen | undefined {
    const { connection: id, model } = this.#conversation();
    const connection = id === null ? undefined : this.#parts.connection(id);
    if (!connection || model === null) return undefined;
    return { connection, model, info: connection.models.find((each) => each.id === model) };
  }

  #conversation(): StoredConversation {
    return this.#parts.conversations.get(this.#id);
  }

  #notice(level: 'info' | 'warning' | 'error', text: string): void {
    this.#parts.transcript.notice(this.#conversation(), this.#number, level, text);
  }

  #fail(text: string): void {
    this.#notice('error', text);
  }
}

interface Chosen {
  readonly connection: Connection;
  readonly model: string;
  readonly info: ModelInfo | undefined;
}

const noModel =
  'This conversation has no model: its connection was removed or none was chosen. Choose one, then send again.';

/** The engine ends; a person who stops an answer knows that. */
function isEnding(reason: unknown): boolean {
  return reason instanceof UserError && reason.code === 'closed';
}

function errorText(error: unknown, connection = 'The connection'): string {
  return error instanceof ProviderFailure ? failureText(error, connection) : errorMessage(error);
}

function none(): void {
  // A summary has no calls.
}
const none2 = (): readonly ModelTool[] => [];

import type { AgentMode, ConversationSummary, Item, Mention } from '../../../../protocol/src/agent.ts';
import { contextLimitOf } from '../context/tokens.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { limits } from '../../../../protocol/src/limits.ts';
import { Turn, type TurnParts } from '../loop/turn.ts';
import { failureText, ProviderFailure } from '../providers/failures.ts';
import type { Database } from '../../store/database.ts';
import type { Cursors } from '../../store/cursors.ts';
import type { StoredConversation } from './conversationRecords.ts';
import type { Deltas } from './deltas.ts';
import type { StoredImage } from './itemRecords.ts';
import type { SentRequest } from './sentRecords.ts';

export interface ConversationsOptions {
  readonly parts: TurnParts;
  readonly database: Database;
  readonly engineId: string;
  readonly cursors: Cursors;
  readonly deltas: Deltas;
  readonly expand: (root: string, mentions: readonly Mention[]) => string;
  /** Questions that were put to a person in this conversation. */
  readonly questions: (id: string) => number;
  /** Ends what engines that are gone left in the middle. */
  readonly recover: () => void;
  /** What goes wrong without failing anything that was asked for. */
  readonly onProblem: (error: unknown) => void;
}

interface Live {
  readonly controller: AbortController;
  readonly turn: Turn;
  over: Promise<void>;
}

const firstTitle = 'New conversation';
const longestTitle = 80;
const longestMessage = 1024 * 1024;

/** The conversations of this engine: what is stored of them, and the turns that are under way. */
export class Conversations {
  readonly #options: ConversationsOptions;
  readonly #live = new Map<string, Live>();
  #isEnding = false;

  constructor(options: ConversationsOptions) {
    this.#options = options;
  }

  list(scope: string, query: string, cursor: string | undefined, limit: number) {
    const { cursors, parts } = this.#options;
    const list = JSON.stringify(['conversations', scope, query]);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : cursors.open(list, cursor);
    const count = pageOf(limit);
    const found = parts.conversations.list(scope, query, before, count);
    const last = found.at(-1);
    return {
      conversations: found.map(({ found: each }) => this.#toSummary(each)),
      cursor: last && found.length === count ? cursors.seal(list, last.mark) : undefined,
    };
  }

  create(made: {
    root: string;
    scope: string;
    mode: AgentMode;
    connection: string | null;
    model: string | null;
  }): ConversationSummary {
    const { conversations, createId, now } = this.#options.parts;
    return this.#toSummary(conversations.create({ ...made, id: createId(), title: firstTitle, at: now() }));
  }

  summary(id: string): ConversationSummary | undefined {
    const found = this.#options.parts.conversations.find(id);
    return found && this.#toSummary(found);
  }

  read(
    id: string,
    before: number | undefined,
    limit: number,
  ): { summary: ConversationSummary; items: Item[] } {
    const { conversations, items } = this.#options.parts;
    const conversation = conversations.get(id);
    const rows = items.window(conversation.num, before ?? Number.MAX_SAFE_INTEGER, pageOf(limit));
    return { summary: this.#toSummary(conversation), items: rows };
  }

  /** Takes a person's message. Where an answer is coming it waits its turn. */
  send(
    id: string,
    message: { text: string; mentions: readonly Mention[]; images: readonly StoredImage[] },
  ): { seq: number } {
    const { parts, database, expand } = this.#options;
    const { conversations, items, transcript } = parts;
    if (this.#isEnding) throw new UserError('closed', 'The engine is ending');
    if (message.text.trim() === '' && message.images.length === 0 && message.mentions.length === 0)
      throw new UserError('bad-message', 'The message is empty');
    if (message.text.length > longestMessage)
      throw new UserError(
        'too-large',
        'The message is longer than one million characters. Put it in a file.',
      );
    const conversation = conversations.get(id);
    this.#take(id);
    const isQueued = this.#live.has(id);
    const expanded = expand(conversation.root, message.mentions);
    const row = database.transaction(() => {
      const turn = conversations.nextTurn(id);
      const added = transcript.add(
        conversation,
        {
          kind: 'person',
          turn,
          text: message.text,
          mentions: [...message.mentions],
          images: message.images.length,
          isQueued,
        },
        (seq) => ({ kind: 'person', expanded, after: seq }),
      );
      items.addImages(conversation.num, added.seq, message.images);
      conversations.suggestTitle(id, toTitle(message.text));
      return added;
    });
    if (!isQueued) this.#start(id, row.turn, toTitle(message.text));
    return { seq: row.seq };
  }

  /** Stops the answer that is coming. What waits to be sent is not sent by itself. */
  stop(id: string): Promise<boolean> {
    return this.#abort(id, new UserError('cancelled', 'The person stopped it'));
  }

  configure(
    id: string,
    change: { title?: string; mode?: AgentMode; connection?: string; model?: string },
  ): ConversationSummary {
    const { conversations, transcript } = this.#options.parts;
    const conversation = conversations.get(id);
    const title = change.title?.trim();
    if (title === '') throw new UserError('bad-message', 'A conversation needs a name');
    conversations.configure(id, {
      ...change,
      ...(title !== undefined && { title: title.slice(0, longestTitle) }),
    });
    transcript.changed(conversation);
    return this.#toSummary(conversations.get(id));
  }

  /** A conversation of its own with the rows up to and with `seq`. Grants and receipts stay with the first. */
  fork(id: string, seq: number): ConversationSummary {
    const { parts, database } = this.#options;
    const { conversations, items, createId, now } = parts;
    const from = conversations.get(id);
    return database.transaction(() => {
      const made = conversations.create({
        id: createId(),
        scope: from.scope,
        root: from.root,
        title: `${from.title.slice(0, longestTitle - 7)} (fork)`,
        mode: from.mode,
        connection: from.connection,
        model: from.model,
        at: now(),
      });
      const copied = items.copy(from.num, made.num, seq);
      conversations.setProgress(made.id, Math.min(seq, from.lastSeq), from.lastTurn, copied);
      for (const item of items.unfinished(made.num)) {
        const { row, wire } = item;
        if (row.kind === 'answer') items.update(made.num, { ...row, ending: 'stopped' });
        if (row.kind === 'tool' && wire.kind === 'tool')
          items.update(
            made.num,
            { ...row, state: 'unknown' },
            { ...wire, result: 'Unknown: it was under way when the conversation was forked.', isError: true },
          );
      }
      return this.#toSummary(conversations.get(made.id));
    });
  }

  async delete(id: string): Promise<boolean> {
    await this.stop(id);
    this.#options.deltas.drop(id);
    return this.#options.parts.conversations.delete(id);
  }

  async compact(id: string): Promise<{ seq: number }> {
    const { parts } = this.#options;
    const { conversations } = parts;
    if (this.#live.has(id)) throw new UserError('conflict', 'An answer is coming. Compact when it is there.');
    const { lastTurn, connection } = conversations.get(id);
    this.#take(id);
    let seq = 0;
    let problem: Error | undefined;
    const live = this.#begin(id, lastTurn, 'Compact');
    live.over = live.turn.compact().then(
      (made) => {
        seq = made;
        this.#end(id, 'idle');
      },
      (error: unknown) => {
        problem = error instanceof Error ? error : new Error(String(error));
        this.#end(id, 'idle');
      },
    );
    await live.over;
    if (problem instanceof ProviderFailure) {
      const name = (connection === null ? undefined : parts.connection(connection)?.name) ?? 'The connection';
      throw new UserError('closed', failureText(problem, name));
    }
    if (problem) throw problem;
    return { seq };
  }

  sent(id: string, cursor: string | undefined, limit: number) {
    const { parts, cursors } = this.#options;
    const { num } = parts.conversations.get(id);
    const list = JSON.stringify(['sent', id]);
    const before = cursor === undefined ? Number.MAX_SAFE_INTEGER : cursors.open(list, cursor);
    const count = Math.min(pageOf(limit), sentPage);
    const found = parts.sent.list(num, before, count);
    const last = found.at(-1);
    const requests: SentRequest[] = found.map(({ request }) => request);
    return { requests, cursor: last && found.length === count ? cursors.seal(list, last.id) : undefined };
  }

  /** What waits for a person changed: rows and states say so. `waiting` holds call ids. */
  showWaiting(waiting: ReadonlySet<string>): void {
    const { conversations, transcript } = this.#options.parts;
    for (const [id, { turn }] of this.#live) {
      const waits = turn.showWaiting((callId) => waiting.has(callId));
      const conversation = conversations.find(id);
      const state = waits ? 'waiting' : 'answering';
      if (!conversation || conversation.state === state) continue;
      conversations.setState(id, state, this.#options.engineId);
      transcript.changed(conversation);
    }
  }

  /** Stops every answer and waits for the end of each. */
  async dispose(): Promise<void> {
    this.#isEnding = true;
    const reason = new UserError('closed', 'The engine is ending');
    await Promise.all([...this.#live.keys()].map((id) => this.#abort(id, reason)));
  }

  async #abort(id: string, reason: UserError): Promise<boolean> {
    const live = this.#live.get(id);
    if (!live) return false;
    live.controller.abort(reason);
    await live.over;
    return true;
  }

  /** Takes a conversation for this engine. Throws `conflict` where another one that lives has it. */
  #take(id: string): void {
    const { parts, engineId, recover } = this.#options;
    if (parts.conversations.take(id, engineId)) return;
    recover();
    if (!parts.conversations.take(id, engineId))
      throw new UserError('conflict', 'Another window is answering this conversation. Go on there.', { id });
  }

  #begin(id: string, number: number, title: string): Live {
    const { parts, engineId } = this.#options;
    const controller = new AbortController();
    const turn = new Turn(parts, id, { number, title }, controller.signal);
    const live: Live = { controller, turn, over: Promise.resolve() };
    this.#live.set(id, live);
    parts.conversations.setState(id, 'answering', engineId);
    parts.transcript.changed(parts.conversations.get(id));
    return live;
  }

  #start(id: string, number: number, title: string): void {
    const live = this.#begin(id, number, title);
    live.over = live.turn
      .run()
      .then((end) => {
        this.#end(id, end === 'failed' ? 'failed' : 'idle');
        if (end === 'done') this.#sendNext(id);
      })
      .catch((error: unknown) => {
        this.#live.delete(id);
        this.#options.onProblem(error);
      });
  }

  #end(id: string, state: 'idle' | 'failed'): void {
    const { parts, deltas } = this.#options;
    this.#live.delete(id);
    const conversation = parts.conversations.find(id);
    if (!conversation) return deltas.drop(id);
    parts.conversations.setState(id, state, null);
    parts.transcript.changed(conversation);
    deltas.flush(id);
  }

  /** The message that waits longest gets its turn. */
  #sendNext(id: string): void {
    if (this.#isEnding) return;
    const { parts, engineId } = this.#options;
    const { conversations, items, transcript } = parts;
    const conversation = conversations.find(id);
    if (!conversation) return;
    const [next] = items.queued(conversation.num);
    if (next?.row.kind !== 'person' || next.wire.kind !== 'person' || !conversations.take(id, engineId))
      return;
    transcript.update(
      conversation,
      { ...next.row, isQueued: false },
      { ...next.wire, after: conversation.lastSeq },
    );
    this.#start(id, next.row.turn, toTitle(next.row.text));
  }

  #toSummary(stored: StoredConversation): ConversationSummary {
    const connection =
      stored.connection === null ? undefined : this.#options.parts.connection(stored.connection);
    return {
      id: stored.id,
      root: stored.root,
      title: stored.title,
      mode: stored.mode,
      connection: stored.connection,
      model: stored.model,
      state: stored.state,
      items: stored.items,
      usage: stored.usage,
      contextTokens: stored.contextTokens,
      contextLimit: connection ? contextLimitOf(connection, stored.model) : null,
      questions: this.#options.questions(stored.id),
      createdAt: stored.createdAt,
      updatedAt: stored.updatedAt,
    };
  }
}

/** Bodies are large; a page of them must fit one message. */
const sentPage = 10;

function pageOf(limit: number): number {
  return Math.max(1, Math.min(limit, limits.pageSize));
}

function toTitle(text: string): string {
  const line = text.trim().split('\n')[0]?.trim() ?? '';
  if (line === '') return firstTitle;
  return line.length <= longestTitle ? line : `${line.slice(0, longestTitle - 1).toWellFormed()}…`;
}

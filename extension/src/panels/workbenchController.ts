import type { Connection, ConversationSummary } from '../../../protocol/src/agent.ts';
import type { ParamsOf } from '../../../protocol/src/contract.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { workbenchHost, workbenchView } from '../../../protocol/src/workbench.ts';
import type { Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import type { ProjectPicker } from '../project/pickProject.ts';
import { errorNotice } from '../messages.ts';
import { ShownConversation, type ConversationDelta } from './shownConversation.ts';
import { singleFlight } from './singleFlight.ts';
import type { ActParams, ActScene } from './workbenchActs.ts';
import type { WorkbenchHandlers, WorkbenchPage } from './workbenchPage.ts';
import { workbenchWords as words } from './workbenchWords.ts';

type State = ParamsOf<(typeof workbenchView.notifications)['workbench/state']>;
type Send = ParamsOf<(typeof workbenchHost.requests)['workbench/send']>;
type Configure = ParamsOf<(typeof workbenchHost.requests)['workbench/configure']>;

/** What the controller needs of the window; all of it may be missing, and each lack has words in the page. */
export interface WorkbenchWindow {
  readonly engine: Engine;
  readonly picker: Pick<ProjectPicker, 'project'>;
  readonly isTrusted: () => boolean;
  readonly hasProject: () => boolean;
  /** The projects of the window. Rejects where the engine is down. */
  readonly projects: () => Promise<readonly { readonly root: string; readonly name: string }[]>;
  readonly connections: () => readonly Connection[];
  readonly waiting: () => number;
  readonly act: (params: ActParams, scene: ActScene) => Promise<void>;
}

const recentConversations = 30;
const listedConversations = 100;

/**
 * What the pages of the workbench share: which conversation is shown, and a window of it. Every state is the engine's;
 * after a crash of a page, of this process or of the engine it is read again.
 */
export class WorkbenchController implements Disposable {
  readonly #window: WorkbenchWindow;
  readonly #conversation: ShownConversation;
  readonly #pages = new Set<WorkbenchPage>();
  readonly #subscription: Disposable;
  /** Sends everything to every page; many calls in a row cost two rounds. */
  readonly refresh: () => void;
  #project: { readonly root: string; readonly name: string } | null = null;
  #creating: Promise<ConversationSummary> | undefined;

  constructor(window: WorkbenchWindow) {
    this.#window = window;
    this.#conversation = new ShownConversation(window.engine);
    this.refresh = singleFlight(() => this.#refresh());
    this.#subscription = window.engine.on('conversation/delta', (delta) => this.#move(delta));
  }

  /** The handlers of a page that is added; dispose the answer when it closes. */
  add(page: WorkbenchPage): Disposable {
    this.#pages.add(page);
    return { dispose: () => void this.#pages.delete(page) };
  }

  /** Tells every page that is there. */
  readonly tell: WorkbenchPage['tell'] = (method, params) => {
    for (const page of this.#pages) page.tell(method, params);
  };

  handlers(): WorkbenchHandlers {
    const { engine } = this.#window;
    const done = async (work: Promise<unknown>): Promise<null> => {
      await work;
      return null;
    };
    return {
      'workbench/ready': () => {
        this.refresh();
        return null;
      },
      'workbench/open': ({ id }) => done(this.#open(id)),
      'workbench/create': () => done(this.create()),
      'workbench/readBefore': async ({ id, before, limit }) => {
        const { items } = await engine.call('conversation/read', { id, before, limit: Math.min(limit, 200) });
        return { items };
      },
      'workbench/list': async ({ query }) => ({
        conversations: await this.#list(query, listedConversations),
      }),
      'workbench/send': (message) => done(this.#send(message)),
      'workbench/stop': ({ id }) => done(engine.call('conversation/stop', { id })),
      'workbench/configure': (change) => done(this.#configure(change)),
      'workbench/suggest': async ({ query }) => ({
        suggestions: await engine.call('mention/suggest', { root: this.#root(), query }),
      }),
      'workbench/act': (params) => done(this.#window.act(params, this.#scene())),
    };
  }

  /** Makes a conversation and shows it on every page. */
  async create(): Promise<void> {
    const { id } = await this.#create();
    await this.#open(id);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#pages.clear();
  }

  async #refresh(): Promise<void> {
    if (this.#pages.size === 0) return;
    try {
      await this.#load();
      this.tell('workbench/state', await this.#state());
    } catch (error) {
      this.tell('workbench/message', { text: errorNotice(error)?.text ?? '' });
    }
  }

  /** Finds the project and reads the shown conversation again, or the latest one where none is shown. */
  async #load(): Promise<void> {
    if (!this.#window.hasProject()) {
      this.#project = null;
      return this.#conversation.open(null);
    }
    const projects = await this.#window.projects();
    const shown = this.#conversation.summary;
    this.#project =
      projects.find(({ root }) => root === (shown?.root ?? this.#project?.root)) ?? projects[0] ?? null;
    await this.#reopen(shown?.root === this.#project?.root ? shown?.id : undefined);
  }

  /** Opens this conversation, or the latest one where it is gone or none is named. */
  async #reopen(id: string | undefined): Promise<void> {
    if (id !== undefined) {
      try {
        await this.#conversation.open(id);
        return;
      } catch (error) {
        if (!(error instanceof UserError) || error.code !== 'not-found') throw error;
      }
    }
    const [latest] = await this.#list('', 1);
    await this.#conversation.open(latest?.id ?? null);
  }

  async #state(): Promise<State> {
    return {
      projectName: this.#project?.name ?? null,
      trusted: this.#window.isTrusted(),
      connections: [...this.#window.connections()],
      conversation: this.#conversation.summary,
      items: [...this.#conversation.items],
      waiting: this.#window.waiting(),
      recent: await this.#list('', recentConversations),
    };
  }

  async #list(query: string, limit: number): Promise<ConversationSummary[]> {
    const root = this.#project?.root;
    if (root === undefined) return [];
    const { conversations } = await this.#window.engine.call('conversation/list', {
      root,
      limit,
      ...(query === '' ? {} : { query }),
    });
    return conversations;
  }

  #move(delta: ConversationDelta): void {
    switch (this.#conversation.take(delta)) {
      case 'other':
        return;
      case 'torn':
        this.refresh();
        return;
      case 'taken':
        this.tell('workbench/delta', {
          summary: delta.summary,
          items: delta.items,
          text: delta.text,
        });
    }
  }

  async #open(id: string | null): Promise<void> {
    await this.#conversation.open(id);
    this.tell('workbench/state', await this.#state());
  }

  /** A new conversation with the mode and the model of the one before. */
  async #create(): Promise<ConversationSummary> {
    this.#creating ??= this.#createOnce().finally(() => (this.#creating = undefined));
    return this.#creating;
  }

  async #createOnce(): Promise<ConversationSummary> {
    const { root } = await this.#window.picker.project(this.#project ? { root: this.#project.root } : {});
    const before = this.#conversation.summary;
    const connections = this.#window.connections();
    const connection = connections.find(({ id }) => id === before?.connection) ?? connections[0];
    const model = connection?.models.find(({ id }) => id === before?.model) ?? connection?.models[0];
    return this.#window.engine.call('conversation/create', {
      root,
      mode: before?.mode ?? 'act',
      connection: connection?.id ?? null,
      model: model?.id ?? null,
    });
  }

  async #send(message: Send): Promise<void> {
    const id = await this.#ensured(message.id);
    await this.#window.engine.call('conversation/send', { ...message, id });
  }

  async #configure({ id, ...change }: Configure): Promise<void> {
    const configured = await this.#ensured(id);
    await this.#window.engine.call('conversation/configure', { id: configured, ...change });
    await this.#open(configured);
  }

  /** The conversation that a page names; without one a new one is made and shown. */
  async #ensured(id: string): Promise<string> {
    if (id !== '') return id;
    const shown = this.#conversation.summary ?? (await this.#create());
    if (shown.id !== this.#conversation.summary?.id) await this.#open(shown.id);
    return shown.id;
  }

  #root(): string {
    if (!this.#project) throw new UserError('no-project', words.noProject());
    return this.#project.root;
  }

  #scene(): ActScene {
    return {
      root: this.#project?.root ?? '',
      conversation: this.#conversation.summary?.id ?? null,
      title: (id) => (this.#conversation.summary?.id === id ? this.#conversation.summary.title : ''),
      row: (id, seq) => this.#conversation.row(id, seq),
      open: (id) => this.#open(id),
      forget: async (id) => {
        if (this.#conversation.summary?.id === id) await this.#conversation.open(null);
        await this.#reopen(this.#conversation.summary?.id);
        this.tell('workbench/state', await this.#state());
      },
    };
  }
}

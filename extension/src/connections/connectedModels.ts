import type { Connection } from '../../../protocol/src/agent.ts';
import { Emitter } from '../emitter.ts';
import type { Disposable } from '../disposable.ts';
import type { Settings } from '../settings.ts';
import { toConnection, type ConnectionStore } from './connectionStore.ts';
import { listVscodeModels } from './vscodeModels.ts';

/** The connections as the engine and the workbench see them, with the models that VS Code offers now. */
export class ConnectedModels implements Disposable {
  readonly #store: ConnectionStore;
  readonly #settings: Settings;
  readonly #changed: Emitter<readonly Connection[]>;
  #list: readonly Connection[] = [];
  #updates: Promise<void> = Promise.resolve();

  constructor(store: ConnectionStore, settings: Settings, onError: (error: unknown) => void) {
    this.#store = store;
    this.#settings = settings;
    this.#changed = new Emitter(onError);
  }

  readonly onDidChange = (listener: (connections: readonly Connection[]) => void): Disposable =>
    this.#changed.on(listener);

  /** As of the last update. */
  get list(): readonly Connection[] {
    return this.#list;
  }

  /** Reads them again and tells. Updates run one after another, so the last one that was asked for counts. */
  update(): Promise<void> {
    const next = this.#updates.then(() => this.#update());
    this.#updates = next.catch(() => undefined);
    return next;
  }

  dispose(): void {
    this.#changed.dispose();
  }

  async #update(): Promise<void> {
    const saved = this.#store.list();
    const isVscodeWanted = saved.some(({ kind }) => kind === 'vscode');
    const offered = isVscodeWanted ? await listVscodeModels() : [];
    const limits = new Map(offered.map(({ id, contextTokens }) => [id, contextTokens]));
    this.#list = saved.map((each) => {
      if (each.kind !== 'vscode') return toConnection(each, each.models, this.#settings.modelFacts);
      const connection = toConnection(each, offered, this.#settings.modelFacts);
      return {
        ...connection,
        models: connection.models.map((model) => ({
          ...model,
          contextTokens: limits.get(model.id) ?? model.contextTokens,
          inputPrice: null,
          outputPrice: null,
        })),
      };
    });
    this.#changed.fire(this.#list);
  }
}

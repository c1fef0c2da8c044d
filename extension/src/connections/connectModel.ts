import { ProgressLocation, ThemeIcon, window } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import { agentNotices, connectWords } from '../agentMessages.ts';
import { checkKey } from '../keys/keyText.ts';
import type { KeyHeader, KeyVault } from '../keys/keyVault.ts';
import { pickStep, textStep, textStepOr, type Step } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import type { KeyedConnection, VaultKey } from '../vault/vaultKeys.ts';
import { parseAddress } from './address.ts';
import type { ConnectionKeys } from './connectionKeys.ts';
import { kindItems, type Found } from './connectionChoices.ts';
import { connectionKindFacts, type ConnectionKind, type NetworkKind } from './connectionKinds.ts';
import { originOf, type ConnectionStore, type SavedConnection } from './connectionStore.ts';
import { fetchModels } from './fetchModels.ts';
import type { OpenHttp } from './httpRequest.ts';
import type { ListedModel } from './modelList.ts';
import { listVscodeModels } from './vscodeModels.ts';

export interface ConnectModelOptions {
  readonly store: ConnectionStore;
  readonly keys: KeyVault;
  readonly access: ConnectionKeys;
  readonly values: KeyValues;
  readonly openHttp: OpenHttp;
  readonly notifier: Notifier;
  readonly createId: () => string;
}

/** Values of the vault as keys. */
export interface KeyValues {
  /** Lets a person choose one and allow it for this connection. Undefined where they turned away. */
  choose(connection: KeyedConnection, header: KeyHeader): Promise<VaultKey | undefined>;
  /** Ends what a connection was granted, but for the key that is `kept`. */
  end(connection: string, kept?: VaultKey): Promise<void>;
}

/** How a connection gets its key from now on. */
export type KeyChoice = Pick<SavedConnection, 'hasKey' | 'vaultKey'>;

type NetworkConnection = SavedConnection & { readonly kind: NetworkKind };

const listSilenceMs = 15_000;
const lookSilenceMs = 1500;

/** "Connect a Model": native steps from the kind to a connection that has listed its models. */
export class ConnectModel {
  readonly #options: ConnectModelOptions;

  constructor(options: ConnectModelOptions) {
    this.#options = options;
  }

  /** Resolves with the connection that was made, or undefined where the person turned away. */
  async run(): Promise<SavedConnection | undefined> {
    for (;;) {
      const kind = await this.#askKind();
      if (kind === undefined) return undefined;
      const connection = kind === 'vscode' ? await this.#connectVscode() : await this.#connectNetwork(kind);
      if (connection !== 'back') return connection;
    }
  }

  /** Asks for a key and keeps it for the connection's address, or for a value of the vault in its place. */
  async askKey(connection: NetworkConnection, step: number): Promise<Step<KeyChoice>> {
    const { keys, values } = this.#options;
    const optional = connectionKindFacts[connection.kind].key === 'optional';
    const origin = originOf(connection);
    const asked = await textStepOr(
      {
        title: connectWords.title(),
        step,
        totalSteps: Math.max(step, 2),
        prompt: connectWords.keyPrompt(origin, optional),
        isSecret: true,
        check: (text) => {
          if (optional && text.trim() === '') return undefined;
          const checked = checkKey(text);
          return 'problem' in checked ? connectWords.keyProblem(checked.problem) : undefined;
        },
      },
      { button: { iconPath: new ThemeIcon('lock'), tooltip: connectWords.fromVault() }, value: null },
    );
    if (asked.kind !== 'value') return asked;
    if (asked.value === null) {
      const { id, name } = connection;
      const vaultKey = await values.choose(
        { id, name, origin },
        connectionKindFacts[connection.kind].keyHeader,
      );
      return vaultKey ? { kind: 'value', value: { hasKey: false, vaultKey } } : { kind: 'gone' };
    }
    if (asked.value.trim() === '') return { kind: 'value', value: { hasKey: false } };
    if (await keys.save(connection.id, origin, asked.value))
      return { kind: 'value', value: { hasKey: true } };
    const question = connectWords.storageLost();
    const chosen = await window.showWarningMessage(
      question.text,
      { modal: true, detail: question.detail },
      question.button,
    );
    if (chosen !== question.button) return { kind: 'gone' };
    keys.keepForThisWindow(connection.id, origin, asked.value);
    return { kind: 'value', value: { hasKey: false } };
  }

  /** Asks the provider for its models, with progress that can be cancelled. Rejects with `UserError`. */
  async list(connection: NetworkConnection): Promise<ListedModel[]> {
    return window.withProgress(
      {
        location: ProgressLocation.Notification,
        title: connectWords.listing(connection.name),
        cancellable: true,
      },
      (_progress, token) => {
        const controller = new AbortController();
        token.onCancellationRequested(() => controller.abort());
        return fetchModels(connection, this.#options, {
          signal: controller.signal,
          silenceMs: listSilenceMs,
        });
      },
    );
  }

  async #askKind(): Promise<ConnectionKind | undefined> {
    const chosen = await pickStep({
      title: connectWords.title(),
      step: 1,
      totalSteps: 3,
      placeholder: connectWords.choose(),
      items: kindItems({ ollamaModels: undefined, vscodeModels: undefined }),
      later: (set, signal) => {
        let found: Found = { ollamaModels: undefined, vscodeModels: undefined };
        const add = (more: Partial<Found>): void => set(kindItems((found = { ...found, ...more })));
        void this.#lookForOllama(signal).then((ollamaModels) => add({ ollamaModels }));
        void listVscodeModels().then(
          (models) => add({ vscodeModels: models.length }),
          () => add({ vscodeModels: 0 }),
        );
      },
    });
    return chosen.kind === 'value' ? chosen.value.connect : undefined;
  }

  /** Looks once at Ollama's usual place on this machine. What is found is offered, never used by itself. */
  async #lookForOllama(signal: AbortSignal): Promise<number | null> {
    const connection = draft('ollama', connectionKindFacts.ollama.base, 'look');
    try {
      const limit = AbortSignal.any([signal, AbortSignal.timeout(lookSilenceMs)]);
      return (await fetchModels(connection, this.#options, { signal: limit, silenceMs: lookSilenceMs }))
        .length;
    } catch {
      return null;
    }
  }

  async #connectVscode(): Promise<SavedConnection | undefined> {
    const { store, notifier } = this.#options;
    const models = await listVscodeModels();
    if (models.length === 0) {
      notifier.show(agentNotices.noVscodeModels());
      return undefined;
    }
    const known = store.list().find((each) => each.kind === 'vscode');
    const connection: SavedConnection = known ?? {
      id: 'vscode',
      kind: 'vscode',
      name: connectWords.kind('vscode'),
      base: '',
      hasKey: false,
      models: [],
    };
    await store.put(connection);
    notifier.show(agentNotices.connected(connection.name, models.length));
    return connection;
  }

  async #connectNetwork(kind: NetworkKind): Promise<SavedConnection | 'back' | undefined> {
    const { store, keys, values, notifier, createId } = this.#options;
    const facts = connectionKindFacts[kind];
    const address =
      kind === 'openai-compatible' || kind === 'ollama' ? await askAddress(facts.base) : undefined;
    if (address && address.kind !== 'value') return address.kind === 'back' ? 'back' : undefined;
    let connection = draft(kind, address?.value ?? facts.base, createId());
    if (facts.key !== 'none') {
      const key = await this.askKey(connection, address ? 3 : 2);
      if (key.kind !== 'value') return key.kind === 'back' ? 'back' : undefined;
      connection = { ...connection, ...key.value };
    }
    const models = await this.#listOrName(connection);
    if (!models) {
      await keys.drop(connection.id);
      if (connection.vaultKey) await values.end(connection.id);
      return undefined;
    }
    connection = { ...connection, models };
    await store.put(connection);
    notifier.show(agentNotices.connected(connection.name, connection.models.length));
    return connection;
  }

  /** The provider's models; where it gives none, says why and lets the person name one. Undefined: turned away. */
  async #listOrName(connection: NetworkConnection): Promise<ListedModel[] | undefined> {
    let reason: string;
    try {
      return await this.list(connection);
    } catch (error) {
      if (!(error instanceof UserError)) throw error;
      if (error.code === 'cancelled') return undefined;
      reason = error.message;
    }
    const named = await textStep({
      title: connectWords.title(),
      step: 1,
      totalSteps: 1,
      prompt: connectWords.modelPrompt(reason),
      placeholder: connectWords.modelPlaceholder(),
      check: (text) => (/^[\x21-\x7e]{1,200}$/.test(text.trim()) ? undefined : connectWords.modelProblem()),
    });
    if (named.kind !== 'value') return undefined;
    const id = named.value.trim();
    return [{ id, name: id }];
  }
}

/** Asks for the base address of an API. */
export function askAddress(value: string): Promise<Step<string>> {
  return textStep({
    title: connectWords.title(),
    step: 2,
    totalSteps: 3,
    prompt: connectWords.addressPrompt(),
    placeholder: 'https://models.example.com/v1',
    value,
    check: (text) => {
      const address = parseAddress(text);
      return 'problem' in address ? connectWords.addressProblem(address.problem) : undefined;
    },
  }).then((asked) => {
    if (asked.kind !== 'value') return asked;
    const address = parseAddress(asked.value);
    return 'base' in address ? { kind: 'value', value: address.base } : { kind: 'gone' };
  });
}

function draft(kind: NetworkKind, base: string, id: string): NetworkConnection {
  const host = new URL(base).host;
  const isUsual = base === connectionKindFacts[kind].base;
  const name = isUsual ? connectWords.kind(kind) : `${connectWords.kind(kind)} (${host})`;
  return { id, kind, name, base, hasKey: false, models: [] };
}

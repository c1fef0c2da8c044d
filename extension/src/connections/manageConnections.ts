import { ThemeIcon, window, type QuickInputButton, type QuickPickItem } from 'vscode';
import { agentNotices, connectWords } from '../agentMessages.ts';
import type { KeyState, KeyVault } from '../keys/keyVault.ts';
import { textStep } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import { plain } from '../plainText.ts';
import { askAddress, type ConnectModel, type KeyValues } from './connectModel.ts';
import { connectionKindFacts, type NetworkKind } from './connectionKinds.ts';
import { originOf, type ConnectionStore, type SavedConnection } from './connectionStore.ts';

type Act = 'rename' | 'key' | 'address' | 'models' | 'remove';
type NetworkConnection = SavedConnection & { readonly kind: NetworkKind };

/** "Manage Connections": rename, replace the key, change the address, list the models again, remove. */
export class ManageConnections {
  readonly #store: ConnectionStore;
  readonly #keys: KeyVault;
  readonly #values: Pick<KeyValues, 'end'>;
  readonly #connect: ConnectModel;
  readonly #notifier: Notifier;

  constructor(
    store: ConnectionStore,
    keys: KeyVault,
    values: Pick<KeyValues, 'end'>,
    connect: ConnectModel,
    notifier: Notifier,
  ) {
    this.#store = store;
    this.#keys = keys;
    this.#values = values;
    this.#connect = connect;
    this.#notifier = notifier;
  }

  async run(): Promise<void> {
    const connections = this.#store.list();
    if (connections.length === 0) {
      this.#notifier.show(agentNotices.noConnections());
      return;
    }
    const items = await Promise.all(
      connections.map(async (connection) => ({
        label: plain(connection.name),
        description: plain(originOf(connection)),
        detail: connectWords.connectionDetail(connection.models.length, await this.#keyState(connection)),
        connection,
      })),
    );
    const chosen = await window.showQuickPick(items, {
      title: connectWords.manage(),
      placeHolder: connectWords.managePlaceholder(),
      matchOnDescription: true,
    });
    if (!chosen) return;
    const act = await window.showQuickPick(actItems(chosen.connection), { title: chosen.label });
    if (act) await this.#do(act.act, chosen.connection);
  }

  async #do(act: Act, connection: SavedConnection): Promise<void> {
    if (act === 'rename') return this.#rename(connection);
    if (act === 'remove') return this.#remove(connection);
    if (!isNetwork(connection)) return;
    switch (act) {
      case 'key':
        return this.#replaceKey(connection);
      case 'address':
        return this.#changeAddress(connection);
      case 'models': {
        const models = await this.#connect.list(connection);
        await this.#store.put({ ...connection, models });
        this.#notifier.show(agentNotices.connected(connection.name, models.length));
      }
    }
  }

  async #rename(connection: SavedConnection): Promise<void> {
    const asked = await textStep({
      title: connectWords.manage(),
      step: 1,
      totalSteps: 1,
      prompt: connectWords.namePrompt(),
      value: connection.name,
      check: (text) => (text.trim() === '' || text.length > 80 ? connectWords.nameProblem() : undefined),
    });
    if (asked.kind === 'value') await this.#store.put({ ...connection, name: asked.value.trim() });
  }

  async #replaceKey(connection: NetworkConnection): Promise<void> {
    const asked = await this.#connect.askKey(connection, 1);
    if (asked.kind !== 'value') return;
    const { vaultKey: before, ...rest } = connection;
    const { hasKey, vaultKey } = asked.value;
    await this.#store.put({ ...rest, hasKey, ...(vaultKey && { vaultKey }) });
    if (vaultKey) await this.#keys.drop(connection.id);
    if (before) await this.#values.end(connection.id, vaultKey);
    this.#notifier.show(agentNotices.keyReplaced(connection.name));
  }

  /** Another origin drops the key before the address is kept. */
  async #changeAddress(connection: NetworkConnection): Promise<void> {
    const asked = await askAddress(connection.base);
    if (asked.kind !== 'value' || asked.value === connection.base) return;
    const changed = { ...connection, base: asked.value };
    if (originOf(changed) === originOf(connection)) return this.#store.put(changed);
    const { vaultKey, ...rest } = changed;
    await this.#keys.drop(connection.id);
    await this.#store.put({ ...rest, hasKey: false });
    if (vaultKey) await this.#values.end(connection.id);
    this.#notifier.show(agentNotices.keyDropped(connection.name));
  }

  async #remove(connection: SavedConnection): Promise<void> {
    const question = connectWords.removeQuestion(connection.name);
    const chosen = await window.showWarningMessage(
      question.text,
      { modal: true, detail: question.detail },
      question.button,
    );
    if (chosen !== question.button) return;
    const isDropped = await this.#keys.drop(connection.id);
    await this.#store.remove(connection.id);
    if (connection.vaultKey) await this.#values.end(connection.id);
    this.#notifier.show(agentNotices.connectionRemoved(connection.name, isDropped || !connection.hasKey));
  }

  async #keyState(connection: SavedConnection): Promise<KeyState | 'not-needed' | 'gone' | 'in-vault'> {
    if (!isNetwork(connection) || connectionKindFacts[connection.kind].key === 'none') return 'not-needed';
    if (connection.vaultKey) return 'in-vault';
    const state = await this.#keys.state(connection.id, originOf(connection));
    return state === 'none' && connection.hasKey ? 'gone' : state;
  }
}

interface ActItem extends QuickPickItem {
  readonly act: Act;
  readonly buttons?: readonly QuickInputButton[];
}

function actItems(connection: SavedConnection): ActItem[] {
  const item = (act: Act, icon: string): ActItem => ({
    act,
    label: connectWords.act(act),
    iconPath: new ThemeIcon(icon),
  });
  const items = [item('rename', 'edit')];
  if (isNetwork(connection)) {
    if (connectionKindFacts[connection.kind].key !== 'none') items.push(item('key', 'key'));
    items.push(item('address', 'globe'), item('models', 'refresh'));
  }
  return [...items, item('remove', 'trash')];
}

function isNetwork(connection: SavedConnection): connection is NetworkConnection {
  return connection.kind !== 'vscode';
}

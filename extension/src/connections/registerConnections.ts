import { randomUUID } from 'node:crypto';
import { workspace } from 'vscode';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import type { Vault } from '../vault/core/vaultContract.ts';
import { chooseKeyValue } from '../vault/ui/chooseKeyValue.ts';
import { VaultKeys } from '../vault/vaultKeys.ts';
import { ConnectionKeys } from './connectionKeys.ts';
import { ConnectModel, type KeyValues } from './connectModel.ts';
import { openHttp } from './httpRequest.ts';
import { ManageConnections } from './manageConnections.ts';
import { ProviderBroker } from './providerBroker.ts';
import { vscodeApi } from './vscodeApi.ts';
import { VscodeModels } from './vscodeModels.ts';

/** Connect a Model, Manage Connections, and the answers to the engine's requests to providers. */
export function registerConnections(services: Services): Disposable {
  const { commands, confirmations, connections, engine, keys, log, models, notifier, released, settings } =
    services;
  const { vaults } = services.vault;
  const openVaults = (): Promise<readonly Vault[]> => vaults.open();
  const isPersonalLocked = (): boolean => {
    vaults.personal.look();
    return vaults.personal.status.state === 'locked';
  };
  const now = (): number => Date.now();
  const vaultKeys = new VaultKeys({
    openVaults,
    hasLocked: () => isPersonalLocked() || vaults.agents.status.state === 'locked',
    released,
    now,
  });
  const access = new ConnectionKeys(keys, vaultKeys);
  const values: KeyValues = {
    choose: (connection, header) =>
      chooseKeyValue(connection, header, {
        openVaults,
        isPersonalLocked,
        unlock: () => commands.run('sallyport.openVault', { vault: { kind: 'personal' } }),
        review: (grant) => commands.run('sallyport.reviewVaultRequests', grant),
        notifier,
        now,
      }),
    end: (connection, kept) => vaultKeys.end(connection, kept),
  };
  /** No vault value that was used in this window goes to a model, whatever file or output it came from. */
  const scrub = (text: string): string => released.scrubber.text(text);
  const createId = (): string => randomUUID();
  const broker = new ProviderBroker({
    find: (id) => connections.find(id),
    keys: access,
    openHttp,
    createId,
  });
  const vscodeModels = new VscodeModels(createId, () =>
    connections.list().some(({ kind }) => kind === 'vscode'),
  );
  const connect = new ConnectModel({
    store: connections,
    keys,
    access,
    values,
    openHttp,
    notifier,
    createId,
  });
  const manage = new ManageConnections(connections, keys, values, connect, notifier);
  const closeAll = (): void => {
    broker.closeAll();
    vscodeModels.closeAll();
  };
  const quietly = (work: Promise<unknown>): void => {
    work.catch((error: unknown) => log.error('Failed to tell the engine of the connections', error));
  };
  const tell = (): Promise<void> =>
    engine.notify('connections/set', {
      connections: [...models.list],
      webSearch: settings.webSearch,
      shellInternet: settings.shellInternet,
    });

  return together(
    engine.handle({
      'provider/open': (params, signal) => broker.open({ ...params, body: scrub(params.body) }, signal),
      'provider/read': (params, signal) => broker.read(params, signal),
      'provider/close': ({ stream }) => {
        broker.close(stream);
        vscodeModels.close(stream);
        return null;
      },
      'lm/open': ({ request, ...rest }, signal) =>
        vscodeModels.open({ ...rest, request: scrub(request) }, signal),
      'lm/read': (params, signal) => vscodeModels.read(params, signal),
    }),
    engine.onDidChangeState((state) => {
      if (state === 'running') quietly(models.update());
      else closeAll();
    }),
    models.onDidChange(() => quietly(tell())),
    connections.onDidChange(() => quietly(models.update())),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration('sallyport')) quietly(models.update());
    }),
    confirmations.onDidChange(() => quietly(models.update())),
    vscodeApi.lm?.onDidChangeChatModels(() => quietly(models.update())) ?? together(),
    { dispose: closeAll },
    commands.register('sallyport.connectModel', async () => {
      await connect.run();
    }),
    commands.register('sallyport.manageConnections', () => manage.run()),
  );
}

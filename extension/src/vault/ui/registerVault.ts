import { StatusBarAlignment, window } from 'vscode';
import { parseAppTarget } from '../../apps/appTarget.ts';
import { viewIds } from '../../commandIds.ts';
import { together, type Disposable } from '../../disposable.ts';
import type { Services } from '../../services.ts';
import { NodeTree } from '../../views/nodeTree.ts';
import type { Vault } from '../core/vaultContract.ts';
import { VaultError } from '../core/vaultState.ts';
import { SilentKeyring } from '../life/vaultSecrets.ts';
import { chooseItem, chooseVault, chooseVaultKind, type ChosenItem } from './chooseItem.ts';
import { VaultClipboard } from './clipboard.ts';
import { exportItems } from './exportItems.ts';
import { endOrphans } from './endOrphans.ts';
import { listGrants, usesReport } from './grantList.ts';
import { importItems } from './importItems.ts';
import { letPluginUse } from './letPluginUse.ts';
import { registerWishes } from './registerWishes.ts';
import { runCommand } from './runCommand.ts';
import { VaultBackups } from './vaultBackups.ts';
import { VaultDoors } from './vaultDoors.ts';
import { VaultItems } from './vaultItems.ts';
import { vaultNodes } from './vaultNodes.ts';
import { vaultNotices } from './vaultNotices.ts';
import { parseVaultTarget, type VaultTarget } from './vaultTarget.ts';
import { statusExplanation, vaultProblem, vaultWords } from './vaultWords.ts';
import { watchVaultFolder } from './watchVaultFolder.ts';
import { createRequests } from './registerRequests.ts';

const kinds = ['agents', 'personal'] as const;

/** The Vault view and its commands. Nothing is opened or read before the view is shown or a command needs it. */
export function registerVault(services: Services): Disposable {
  const { commands, engine, log, notifier, person, released, reports } = services;
  const { vaults, secrets, places } = services.vault;
  const clipboard = new VaultClipboard();
  const doors = new VaultDoors({ vaults, secrets, person, notifier });
  const items = new VaultItems({ person, notifier, clipboard });
  const backups = new VaultBackups({ vaults, places, person, notifier, doors });
  const requests = createRequests(services);

  const guarded =
    (act: (target: VaultTarget) => Promise<void> | void) =>
    async (...args: unknown[]): Promise<void> => {
      try {
        await act(parseVaultTarget(args));
      } catch (error) {
        if (error instanceof VaultError) notifier.show(vaultNotices.failed(vaultProblem(error)));
        else if (error instanceof SilentKeyring)
          notifier.show(vaultNotices.failed(statusExplanation({ state: 'keyring-silent' })));
        else throw error;
      }
    };
  const opened = async (): Promise<readonly Vault[]> => {
    vaults.personal.look();
    vaults.personal.use();
    return vaults.open();
  };
  /** The item that the command is about; its vault is opened by the person first where it is not. */
  const withItem =
    (act: (chosen: ChosenItem, target: VaultTarget) => Promise<void>) =>
    async (target: VaultTarget): Promise<void> => {
      if (target.kind && !(await doors.need(target.kind))) return;
      const chosen = await chooseItem(await opened(), target);
      if (chosen === 'no-items') notifier.show(vaultNotices.noItems());
      else if (chosen) await act(chosen, target);
    };
  /** As `withVault`, for what a vault that was never made has nothing for: it is not made for that. */
  const withMadeVault =
    (act: (vault: Vault) => Promise<void>) =>
    async (target: VaultTarget): Promise<void> => {
      const open = await opened();
      const wanted = target.kind ? [target.kind] : kinds;
      if (open.length === 0 && wanted.every((kind) => vaults[kind].status.state === 'absent'))
        notifier.show(vaultNotices.noVault());
      else await withVault(act)(target);
    };
  const withVault =
    (act: (vault: Vault) => Promise<void>) =>
    async (target: VaultTarget): Promise<void> => {
      if (target.kind === undefined && (await opened()).length === 0 && !(await doors.need('agents'))) return;
      const vault = target.kind ? await doors.need(target.kind) : await chooseVault(await opened());
      if (vault) await act(vault);
    };

  return together(
    clipboard,
    requests,
    endOrphans(services),
    registerWishes(services, doors),
    registerTree(services),
    registerStatus(services),
    commands.register(
      'sallyport.createVault',
      guarded(async (target) => {
        await opened();
        const absent = kinds.filter((kind) => vaults[kind].status.state === 'absent');
        const kind = target.kind ?? (absent.length > 0 ? await chooseVaultKind(absent) : undefined);
        if (kind) await doors.create(kind);
        else if (absent.length === 0) notifier.show(vaultNotices.bothThere());
      }),
    ),
    commands.register(
      'sallyport.openVault',
      guarded(({ kind = 'personal' }) => doors.open(kind)),
    ),
    commands.register(
      'sallyport.openOlderVault',
      guarded(({ kind = 'agents' }) => doors.openOlder(kind)),
    ),
    commands.register(
      'sallyport.recoverVault',
      guarded(async () => {
        await opened();
        if (vaults.agents.status.state === 'absent') notifier.show(vaultNotices.noVault());
        else await doors.recover();
      }),
    ),
    commands.register(
      'sallyport.lockVault',
      guarded(() => doors.lock()),
    ),
    commands.register(
      'sallyport.changeVaultPassword',
      guarded(async () => {
        await opened();
        if (vaults.personal.status.state === 'absent') notifier.show(vaultNotices.noPersonalVault());
        else await doors.changePassword();
      }),
    ),
    commands.register('sallyport.addVaultItem', guarded(withVault((vault) => items.add(vault)))),
    commands.register(
      'sallyport.editVaultItem',
      guarded(withItem(({ vault, item }) => items.edit(vault, item))),
    ),
    commands.register(
      'sallyport.removeVaultItem',
      guarded(withItem(({ vault, item }) => items.remove(vault, item))),
    ),
    commands.register(
      'sallyport.revealVaultField',
      guarded(withItem(({ vault, item }, { field }) => items.reveal(vault, item, field))),
    ),
    commands.register(
      'sallyport.copyVaultField',
      guarded(withItem(({ vault, item }, { field }) => items.copy(vault, item, field))),
    ),
    commands.register(
      'sallyport.showVaultVersions',
      guarded(withItem(({ vault, item }) => items.versions(vault, item))),
    ),
    commands.register('sallyport.letPluginUseValue', (...args) => {
      const plugin = parseAppTarget(args);
      const parts = {
        apps: () => engine.call('app/list', {}),
        review: (grant: string) => commands.run('sallyport.reviewVaultRequests', grant),
        notifier,
      };
      return guarded(withItem((chosen, { field }) => letPluginUse(chosen, { ...plugin, field }, parts)))(
        ...args,
      );
    }),
    commands.register('sallyport.importVault', guarded(withVault((vault) => importItems(vault, notifier)))),
    commands.register(
      'sallyport.exportVault',
      guarded(withMadeVault((vault) => exportItems(vault, { person, notifier }))),
    ),
    commands.register('sallyport.backUpVault', guarded(withMadeVault((vault) => backups.backUp(vault)))),
    commands.register(
      'sallyport.restoreVault',
      guarded(() => backups.restore()),
    ),
    commands.register(
      'sallyport.runVaultCommand',
      guarded(async () => runCommand(await opened(), { person, notifier, released })),
    ),
    commands.register(
      'sallyport.showVaultGrants',
      guarded(async () => listGrants(await opened(), notifier, Date.now())),
    ),
    commands.register(
      'sallyport.showVaultUses',
      guarded(async () => {
        const { title, text } = usesReport(await opened());
        await reports.show(title, text);
      }),
    ),
    watchVaultFolder(Object.values(places), vaults, (error) =>
      log.error('Failed to look whether another window changed the vault', error),
    ),
  );
}

function registerTree({ vault: { vaults }, log }: Services): Disposable {
  let hasLooked = false;
  const tree = new NodeTree(async () => {
    if (!hasLooked) {
      hasLooked = true;
      vaults.personal.look();
      await vaults.agents.open().catch((error: unknown) => log.error('Failed to open the vault', error));
    }
    return vaultNodes({ agents: vaults.agents.status, personal: vaults.personal.status }, Date.now());
  });
  const view = window.createTreeView(viewIds.vault, { treeDataProvider: tree });
  return together(
    tree,
    view,
    vaults.onDidChange(() => tree.refresh()),
  );
}

function registerStatus({ vault: { vaults } }: Services): Disposable {
  const item = window.createStatusBarItem('sallyport.vault', StatusBarAlignment.Left, 8);
  item.name = vaultWords.title();
  item.command = 'sallyport.lockVault';
  const draw = (): void => {
    if (vaults.personal.status.state !== 'open') return item.hide();
    item.text = `$(unlock) ${vaultWords.statusUnlocked()}`;
    item.tooltip = vaultWords.statusTooltip();
    item.accessibilityInformation = { label: vaultWords.statusTooltip(), role: 'button' };
    item.show();
  };
  draw();
  return together(item, vaults.onDidChange(draw));
}

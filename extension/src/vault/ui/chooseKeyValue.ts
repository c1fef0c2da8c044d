import { ThemeIcon, window, type QuickPickItem } from 'vscode';
import type { KeyHeader } from '../../keys/keyVault.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import type { Vault } from '../core/vaultContract.ts';
import { coveringGrant, strayHost } from '../grants.ts';
import { wantedKey, type KeyedConnection, type VaultKey } from '../vaultKeys.ts';
import { keyValueWords as words } from './keyValueWords.ts';
import { vaultNotices } from './vaultNotices.ts';
import { vaultName } from './vaultWords.ts';

export interface ChooseKeyValueParts {
  readonly openVaults: () => Promise<readonly Vault[]>;
  readonly isPersonalLocked: () => boolean;
  /** Asks the person to unlock the personal vault. */
  readonly unlock: () => Promise<void>;
  /** Puts the request with this id to the person. */
  readonly review: (grant: string) => Promise<void>;
  readonly notifier: Notifier;
  readonly now: () => number;
}

interface Line extends QuickPickItem {
  readonly chosen?: { readonly vault: Vault; readonly key: VaultKey };
}

/**
 * Lets a person choose a value of the vault as the key of a connection, and puts the grant for exactly that before them.
 * Undefined where they turned away or did not allow it.
 */
export async function chooseKeyValue(
  connection: KeyedConnection,
  header: KeyHeader,
  parts: ChooseKeyValueParts,
): Promise<VaultKey | undefined> {
  for (;;) {
    const lines = linesOf(await parts.openVaults(), connection, header);
    const isLocked = parts.isPersonalLocked();
    if (lines.length === 0 && !isLocked) {
      parts.notifier.show(vaultNotices.failed(words.none(connection.origin)));
      return undefined;
    }
    const unlock: Line = { label: words.unlock(), iconPath: new ThemeIcon('unlock') };
    const picked = await window.showQuickPick(isLocked ? [...lines, unlock] : lines, {
      title: words.title(connection.origin),
      placeHolder: words.choose(),
      ignoreFocusOut: true,
    });
    if (!picked) return undefined;
    if (picked.chosen) {
      const { vault, key } = picked.chosen;
      return (await isAllowed(vault, connection, key, header, parts)) ? key : undefined;
    }
    await parts.unlock();
    if (parts.isPersonalLocked()) return undefined;
  }
}

/** Values that may be sent to the connection's host, and can be read from where they are. */
function linesOf(vaults: readonly Vault[], connection: KeyedConnection, header: KeyHeader): Line[] {
  return vaults.flatMap((vault) =>
    vault
      .list()
      .filter(({ kind }) => kind !== 'keyPair' && kind !== 'certificate')
      .flatMap(({ id, title, fields, hosts }) =>
        fields.map(({ name }) => ({ key: { item: id, field: name }, title, hosts })),
      )
      .filter(({ key, hosts }) => !strayHost(wantedKey(connection, key, header).wish.use, hosts))
      .map(({ key, title }) => ({
        label: `${plain(title)} · ${plain(key.field)}`,
        description: vaultName(vault.kind),
        chosen: { vault, key },
      })),
  );
}

async function isAllowed(
  vault: Vault,
  connection: KeyedConnection,
  key: VaultKey,
  header: KeyHeader,
  { now, review }: ChooseKeyValueParts,
): Promise<boolean> {
  const wanted = wantedKey(connection, key, header);
  if (coveringGrant([vault], wanted, now())) return true;
  const { principal, scope, wish } = wanted;
  const limits = { count: null, until: null };
  const { id } = await vault.ask({ ...wish, principal, scope, limits, reason: '' });
  await review(id);
  if (coveringGrant([vault], wanted, now())) return true;
  // Nothing waits for an answer that nobody needs any more.
  if (vault.grants().some((grant) => grant.id === id && grant.state === 'pending')) await vault.revoke(id);
  return false;
}

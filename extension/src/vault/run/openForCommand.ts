import { join } from 'node:path';
import { openAgentsVaultByRecovery } from '../core/agentsVault.ts';
import { countersFolder, FileCounters } from '../core/fileCounters.ts';
import type { OpenOptions } from '../core/openOptions.ts';
import { openPersonalVault } from '../core/personalVault.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { OpenResult, VaultKind } from '../core/vaultState.ts';
import type { KeyReader } from './readKeys.ts';

/** Why a vault does not open, for a person at a terminal. Never holds a key. */
export class ClosedVault extends Error {}

/**
 * Opens a vault below the folder of Sallyport's state with keys that a person gives now. Rejects with `ClosedVault`; the
 * file stays as it is.
 */
export async function openForCommand(
  kind: VaultKind,
  home: string,
  keys: KeyReader,
  options: Pick<OpenOptions, 'derive'> = {},
): Promise<Vault> {
  const counters = new FileCounters(countersFolder(home));
  const place: OpenOptions = { folder: join(home, 'vault', kind), counters, ...options };
  const result = kind === 'agents' ? await openAgents(place, keys) : await openPersonal(place, keys);
  if (result.state === 'open') return result.vault;
  throw new ClosedVault(words(result, place.folder, home));
}

async function openPersonal(place: OpenOptions, keys: KeyReader): Promise<OpenResult> {
  using password = await keys.read('Password of the personal vault: ');
  using secretKey = await keys.read('Secret Key: ');
  return await openPersonalVault(place, {
    password,
    secretKey: secretKey.use((bytes) => bytes.toString('utf8')),
  });
}

async function openAgents(place: OpenOptions, keys: KeyReader): Promise<OpenResult> {
  using recovery = await keys.read('Recovery key of the agents’ vault: ');
  return await openAgentsVaultByRecovery(
    place,
    recovery.use((bytes) => bytes.toString('utf8')),
  );
}

function words(result: Exclude<OpenResult, { state: 'open' }>, folder: string, home: string): string {
  switch (result.state) {
    case 'absent':
      return `There is no vault in ${folder}. SALLYPORT_HOME names the folder of Sallyport’s state; that of VS Code is what Sallyport: Doctor shows.`;
    case 'wrong-password':
      return `The password or the Secret Key does not fit.${later(result.waitMs)}`;
    case 'wait':
      return `There were too many wrong passwords.${later(result.waitMs)}`;
    case 'wrong-secret-key':
    case 'device-key-lost':
      return 'The key is none of this vault.';
    case 'tampered':
      return `The vault’s file is not what Sallyport saved (${result.what}). Nothing of it is used. Restore a backup.`;
    case 'rolled-back':
      return `The vault’s file is a whole older one (change ${result.counter}, and ${result.known} was seen here). What was saved since is missing, and nothing of it is used. If you put it back yourself, open it in VS Code, which asks you; else restore a backup.`;
    case 'counter-unavailable':
      return `Whether the vault’s file is the newest can’t be told: what was kept of it in ${countersFolder(home)} can’t be read. Open the vault in VS Code, which keeps it anew with the next change.`;
    case 'unsupported':
      return `The vault has version ${result.version}. Update Sallyport to open it.`;
    default:
      return `The vault can’t be opened (${result.state}). Look at it in VS Code.`;
  }
}

function later(waitMs: number): string {
  return waitMs > 0 ? ` Try again in ${Math.ceil(waitMs / 1000)} s.` : '';
}

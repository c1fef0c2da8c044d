import { join } from 'node:path';
import type { ExtensionContext } from 'vscode';
import { countersFolder, FileCounters, keepTwice } from '../core/fileCounters.ts';
import type { VaultPlace } from '../core/openOptions.ts';
import type { VaultKind } from '../core/vaultState.ts';
import type { Settings } from '../../settings.ts';
import { WishAnswers } from '../wishAnswers.ts';
import { AgentsLife, type KeptMarker } from './agentsLife.ts';
import { PersonalLife } from './personalLife.ts';
import { Vaults } from './vaults.ts';
import { VaultSecrets } from './vaultSecrets.ts';

const markerName = 'sallyport.vault.deviceKeyKept';

export interface VaultParts {
  readonly vaults: Vaults;
  readonly secrets: VaultSecrets;
  readonly places: Readonly<Record<VaultKind, VaultPlace>>;
  /** What was answered to the wishes of plugins. */
  readonly answers: WishAnswers;
}

/** The vaults under VS Code's global storage. Opens nothing and reads nothing. */
export function createVaults(
  context: Pick<ExtensionContext, 'secrets' | 'globalState' | 'globalStorageUri'>,
  settings: Pick<Settings, 'lockAfterMinutes'>,
  onError: (error: unknown) => void,
): VaultParts {
  const secrets = new VaultSecrets(context.secrets, 10_000);
  const home = context.globalStorageUri.fsPath;
  const folder = join(home, 'vault');
  const counters = keepTwice(secrets, new FileCounters(countersFolder(home)));
  const marker: KeptMarker = {
    get: () => {
      const value = context.globalState.get(markerName);
      return value === 'stored' || value === 'found-again' ? value : 'none';
    },
    set: (value) => context.globalState.update(markerName, value),
  };
  const places = {
    agents: { folder: join(folder, 'agents'), counters },
    personal: { folder: join(folder, 'personal'), counters },
  };
  const agents = new AgentsLife({
    place: places.agents,
    secrets,
    marker,
    onError,
  });
  const personal = new PersonalLife({
    place: places.personal,
    lockAfterMinutes: () => settings.lockAfterMinutes,
    now: () => Date.now(),
    every: (ms, tick) => {
      const timer = setInterval(tick, ms);
      return { dispose: () => clearInterval(timer) };
    },
    onError,
  });
  return {
    vaults: new Vaults(agents, personal, onError),
    secrets,
    places,
    answers: new WishAnswers(context.globalState, onError),
  };
}

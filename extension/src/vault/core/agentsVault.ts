import { createSlots, createVault } from './createVault.ts';
import { Keyring } from './keyring.ts';
import { openSlot } from './keySlots.ts';
import type { OpenOptions, VaultPlace } from './openOptions.ts';
import { openVault, type Refusal } from './openVault.ts';
import { derivePasswordKey } from './passwordKey.ts';
import { SealedVault } from './sealedVault.ts';
import type { Secret } from './secret.ts';
import { createSecretKey, isSecretKeyOf } from './secretKey.ts';

/** The vault of what agents, cards and apps may be granted. It opens with a device key of 32 bytes. */
export class AgentsVault extends SealedVault {
  /**
   * Seals everything under fresh keys, which this device key and this recovery key open from then on; a fresh recovery
   * key where none is given. Resolves with the recovery key. Both are borrowed.
   */
  async renewKeys(deviceKey: Secret, recoveryKey?: string): Promise<{ readonly recoveryKey: string }> {
    const { place, derive } = this.options;
    const { random } = place;
    const recovery = recoveryKey ?? createSecretKey(random);
    await this.changed((store) =>
      store.rewrite(async () => {
        const keyring = new Keyring(this.id, random.draw(32));
        const slots = await createSlots(keyring, 'agents', keysOf(deviceKey, recovery), { random, derive });
        return { change: {}, keyring, header: { slots, publicKey: keyring.publicKey } };
      }),
    );
    return { recoveryKey: recovery };
  }
}

export type AgentsResult = { readonly state: 'open'; readonly vault: AgentsVault } | Refusal;

/** Creates an empty vault. The recovery key is shown once and kept nowhere. */
export async function createAgentsVault(
  place: VaultPlace,
  deviceKey: Secret,
): Promise<{ readonly vault: AgentsVault; readonly recoveryKey: string }> {
  let recoveryKey = '';
  const vault = await createVault(place, {
    kind: 'agents',
    keys: (random) => {
      recoveryKey = createSecretKey(random);
      return keysOf(deviceKey, recoveryKey);
    },
    create: (options) => new AgentsVault(options),
  });
  return { vault, recoveryKey };
}

/** Without a device key, or with another one, it is `device-key-lost`, and the file stays as it is. */
export function openAgentsVault(options: OpenOptions, deviceKey: Secret | undefined): Promise<AgentsResult> {
  const { derive = derivePasswordKey } = options;
  return openVault(options, {
    kind: 'agents',
    create: (made) => new AgentsVault(made),
    unlock: async ({ id, slots }) => {
      const slot = slots.find(({ type }) => type === 'device');
      const key =
        slot && deviceKey?.length === 32
          ? await openSlot({ vaultId: id, kind: 'agents' }, slot, { type: 'device', deviceKey }, derive)
          : undefined;
      return key ?? { state: 'device-key-lost' };
    },
  });
}

/** Opens with the recovery key and gives the vault a fresh device key; the one before opens nothing any more. */
export async function recoverAgentsVault(
  options: OpenOptions,
  recoveryKey: string,
  deviceKey: Secret,
): Promise<AgentsResult> {
  const result = await openAgentsVaultByRecovery(options, recoveryKey);
  if (result.state === 'open') await result.vault.renewKeys(deviceKey, recoveryKey);
  return result;
}

/** Opens with the recovery key and changes nothing: where there is no device key, as at a terminal. */
export function openAgentsVaultByRecovery(options: OpenOptions, recoveryKey: string): Promise<AgentsResult> {
  const { derive = derivePasswordKey } = options;
  return openVault(options, {
    kind: 'agents',
    create: (made) => new AgentsVault(made),
    unlock: async ({ id, slots }) => {
      const slot = slots.find(({ type }) => type === 'recovery');
      if (!slot || !('keyId' in slot) || !isSecretKeyOf(recoveryKey, slot.keyId))
        return { state: 'wrong-secret-key' };
      const place = { vaultId: id, kind: 'agents' } as const;
      const key = await openSlot(place, slot, { type: 'recovery', secretKey: recoveryKey }, derive);
      return key ?? { state: 'wrong-secret-key' };
    },
  });
}

function keysOf(deviceKey: Secret, secretKey: string) {
  return [
    { type: 'device', deviceKey },
    { type: 'recovery', secretKey },
  ] as const;
}

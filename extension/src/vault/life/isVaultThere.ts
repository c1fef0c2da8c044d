import { readdirSync } from 'node:fs';
import type { VaultPlace } from '../core/openOptions.ts';

/** Whether a folder holds a vault, or what is left of one: names alone are looked at. */
export function isVaultThere({ folder }: Pick<VaultPlace, 'folder'>): boolean {
  try {
    return readdirSync(folder).some((name) => name === 'vault.json' || /^rows-[0-9]+$/.test(name));
  } catch {
    return false;
  }
}

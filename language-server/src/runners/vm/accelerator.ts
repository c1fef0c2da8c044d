import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Accelerator } from './qemuArguments.ts';

/**
 * What VMs run on here. That `/dev/kvm` can be opened proves nothing: a VM is booted with it, once for each image and
 * QEMU, and only one that comes up counts. Everything else is QEMU's translation, which is slower and no less sealed.
 */
export async function chooseAccelerator(options: {
  readonly image: string;
  readonly imageId: string;
  readonly qemuVersion: string;
  readonly hasDevice: () => boolean;
  /** Boots a VM with this machine's own virtualisation, and says whether it came up in time. */
  readonly boots: () => Promise<boolean>;
}): Promise<Accelerator> {
  if (!options.hasDevice()) return 'tcg';
  const file = join(options.image, 'kvm.json');
  const key = `${options.imageId} ${options.qemuVersion}`;
  const known = readProbe(file);
  if (known?.key === key) return known.boots ? 'kvm' : 'tcg';
  const boots = await options.boots().catch(() => false);
  writeFileSync(file, JSON.stringify({ key, boots }), { mode: 0o600 });
  return boots ? 'kvm' : 'tcg';
}

function readProbe(file: string): { key: string; boots: boolean } | undefined {
  if (!existsSync(file)) return undefined;
  try {
    const { key, boots } = JSON.parse(readFileSync(file, 'utf8')) as { key?: unknown; boots?: unknown };
    return typeof key === 'string' && typeof boots === 'boolean' ? { key, boots } : undefined;
  } catch {
    return undefined;
  }
}

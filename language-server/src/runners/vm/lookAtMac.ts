import { constants, copyFileSync } from 'node:fs';
import { UserError } from '../../../../protocol/src/errors.ts';
import { spawnMachine } from '../../environment.ts';
import type { Machine } from './openVmPlace.ts';
import { findVfkit, vfkitHypervisor } from './vfkitMachine.ts';
import { assertImage } from './vmImage.ts';

/** What VMs are started with on a Mac. Throws `isolation-missing` with the remedy where there is no vfkit or no image. */
export function lookAtMac(
  runner: string,
  image: string,
  size: { readonly memoryMB: number; readonly processors: number },
): Machine {
  if (process.arch !== 'arm64') {
    throw new UserError('isolation-missing', 'VMs are offered on Macs with Apple silicon only', {
      remedy: 'Choose another place for this card.',
    });
  }
  const vfkit = findVfkit();
  if (vfkit === undefined) {
    throw new UserError('isolation-missing', 'vfkit is not installed here, and a VM needs it', {
      remedy: 'Install it: brew install vfkit',
    });
  }
  const { id: imageId } = assertImage(image, runner);
  return {
    hypervisor: vfkitHypervisor({
      vfkit,
      spawnMachine,
      clone: (from, to) => copyFileSync(from, to, constants.COPYFILE_FICLONE_FORCE),
    }),
    shape: { accelerator: 'vz', network: false, shares: [], ...size },
    imageId,
    // Nothing is stored, so nothing is found under it.
    version: '',
  };
}

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { VmStatus, vmRequests } from '../../../../protocol/src/places.ts';
import { openVmFolder, type VmFolder } from './vmFolder.ts';
import { contentDigest, readImage } from './vmImage.ts';

export interface VmHandlerOptions {
  /** The folder of Sallyport's state. */
  readonly home: () => string;
  /** `remote-agent.cjs`. */
  readonly runner: string;
  readonly now: () => number;
  /** Lets go of the VMs of this engine, so that an image can be replaced. */
  readonly release: () => Promise<void>;
  readonly onProgress: (text: string, fraction: number) => void;
  readonly onProblem: (problem: string) => void;
}

/** Builds, shows and removes the image of VMs. One build at a time. */
export function createVmHandlers(options: VmHandlerOptions): RequestHandlers<typeof vmRequests> {
  let isBusy = false;
  const alone = async <T>(work: () => Promise<T>): Promise<T> => {
    if (isBusy) throw new UserError('conflict', 'The VM image is being built or removed already');
    isBusy = true;
    try {
      return await work();
    } finally {
      isBusy = false;
    }
  };
  const folder = () => openVmFolder(options.home());
  return {
    'vm/status': () => status(folder(), options.runner),
    'vm/build': (_, signal) =>
      alone(async () => {
        await options.release();
        const { buildVm } = await import('./buildVm.ts');
        const { accelerator } = await buildVm({
          home: options.home(),
          runner: options.runner,
          now: options.now,
          signal,
          onStep: options.onProgress,
          onProblem: options.onProblem,
        });
        return { status: status(folder(), options.runner), accelerator };
      }),
    'vm/remove': () =>
      alone(async () => {
        await options.release();
        const { image, packages } = folder();
        const freedBytes = diskBytes(image) + diskBytes(packages);
        for (const path of [image, packages]) rmSync(path, { recursive: true, force: true });
        return { freedBytes };
      }),
  };
}

function status(folder: VmFolder, runner: string): VmStatus {
  const image = readImage(folder.image);
  if (!image) return { image: null };
  const { builtAt, node, packages, runnerDigest } = image;
  return {
    image: {
      builtAt,
      node,
      packages,
      sizeBytes: diskBytes(folder.image) + diskBytes(folder.packages),
      isOutdated: runnerDigest !== contentDigest(runner),
    },
  };
}

/** What a folder takes of the disk: the files of an image are mostly holes. */
function diskBytes(folder: string): number {
  try {
    return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce(
      (sum, name) => sum + (lstatSync(join(folder, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512,
      0,
    );
  } catch {
    return 0;
  }
}

import { lstatSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { VmStatus, vmRequests } from '../../../../protocol/src/places.ts';
import { openVmFolder, type VmFolder } from './vmFolder.ts';
import { vmDiskMB } from './openVmPlace.ts';
import { contentDigest, readImage, type VmImage } from './vmImage.ts';

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
    'vm/export': ({ file }, signal) =>
      alone(async () => {
        const { runner, now, onProgress: onStep } = options;
        const { exportVm } = await import('./buildVm.ts');
        const written = await exportVm({ home: options.home(), file, runner, now, signal, onStep });
        return { ...written, status: status(folder(), runner) };
      }),
    'vm/import': ({ file, accept }, signal) =>
      alone(async () => {
        const { runner } = options;
        if (accept !== null) await options.release();
        const { importImage } = await import('./importImage.ts');
        const { digest, image, isInstalled } = await importImage({
          folder: folder(),
          file,
          accept: accept ?? undefined,
          fault: (found) => imageFault(found, runner, process.arch),
          diskBytes: vmDiskMB * 1024 * 1024,
          signal,
        });
        return { digest, isInstalled, status: { image: viewOf(image, image.sizeBytes, runner) } };
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
  return { image: viewOf(image, diskBytes(folder.image) + diskBytes(folder.packages), runner) };
}

function viewOf(image: VmImage, sizeBytes: number, runner: string): VmStatus['image'] {
  const { builtAt, node, packages, runnerDigest } = image;
  return { builtAt, node, packages, sizeBytes, isOutdated: runnerDigest !== contentDigest(runner) };
}

/** Why an image that was written elsewhere can't be used here; undefined where it can. */
export function imageFault(image: VmImage, runner: string, architecture: string): UserError | undefined {
  if (image.architecture !== architecture)
    return new UserError(
      'incompatible',
      `This image is for ${image.architecture}, and this computer is ${architecture}`,
    );
  if (image.runnerDigest === contentDigest(runner)) return undefined;
  return new UserError('incompatible', 'This image was written by another version of Sallyport', {
    remedy: 'Use the same version on both computers.',
  });
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

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestPerson } from '../../../../protocol/src/vmGuest.ts';
import { firstProgram, guestTools, startProgram, terminalStart } from './guestScripts.ts';
import { imageFiles } from './vmFolder.ts';
import { vmLeftOut, vmPackages } from './vmPackages.ts';

/** Grows when images of before can't be started any more. */
export const imageVersion = 2;

export const vmImage = z.strictObject({
  version: z.literal(imageVersion),
  /** Names the content: stored VMs belong to one image. */
  id: z.string(),
  /** Of the runner program and everything else of Sallyport inside: another one needs another image. */
  runnerDigest: z.string(),
  builtAt: z.int(),
  sizeBytes: z.int(),
  node: z.string(),
  /** Node's name of what it runs on: `x64`, `arm64`. */
  architecture: z.string(),
  packages: z.array(
    z.strictObject({
      name: z.string(),
      version: z.string(),
      sizeBytes: z.int(),
      licences: z.array(z.string()),
    }),
  ),
});
export type VmImage = z.infer<typeof vmImage>;

/** The image that was built here; undefined where there is none, or one of another version. */
export function readImage(folder: string): VmImage | undefined {
  const { facts } = imageFiles(folder);
  if (!existsSync(facts)) return undefined;
  try {
    const parsed = z.safeParse(vmImage, JSON.parse(readFileSync(facts, 'utf8')));
    return parsed.success ? parsed.data : undefined;
  } catch {
    return undefined;
  }
}

/** The image, or an error that says what to type. */
export function assertImage(folder: string, runner: string): VmImage {
  const image = readImage(folder);
  const remedy =
    process.platform === 'darwin'
      ? 'Write one on Linux on arm64 with “sallyport vm export FILE”, and take it in with “sallyport vm import FILE”.'
      : 'Build it: “Sallyport: Build VM Image”, or sallyport vm build. It takes about a minute.';
  if (!image) throw new UserError('isolation-missing', 'There is no VM image yet', { remedy });
  if (image.runnerDigest !== contentDigest(runner)) {
    throw new UserError('isolation-missing', 'The VM image was built by another version of Sallyport', {
      remedy,
    });
  }
  return image;
}

/** SHA-256 over what Sallyport itself puts into an image, in hexadecimal; `runner` is the path of `remote-agent.cjs`. */
export function contentDigest(runner: string): string {
  return createHash('sha256')
    .update(
      JSON.stringify([
        firstProgram(),
        startProgram(),
        terminalStart(),
        guestTools,
        guestPerson,
        vmPackages,
        vmLeftOut,
      ]),
    )
    .update(readFileSync(runner))
    .digest('hex');
}

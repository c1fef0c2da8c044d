import { mkdirSync } from 'node:fs';
import { join } from 'node:path';

/** What a VM's folder holds, all below the home's `vm/`; nobody else can look into it. */
export interface VmFolder {
  readonly path: string;
  /** Files of the distribution's packages, kept for the next build. */
  readonly packages: string;
  /** The image that VMs start from; there or not. */
  readonly image: string;
  /** One folder for each VM that runs or ran. */
  readonly machines: string;
}

/** Makes the folders that are missing. */
export function openVmFolder(home: string): VmFolder {
  const path = join(home, 'vm');
  const folder = {
    path,
    packages: join(path, 'packages'),
    image: join(path, 'image'),
    machines: join(path, 'machines'),
  };
  for (const each of [path, folder.packages, folder.machines])
    mkdirSync(each, { recursive: true, mode: 0o700 });
  return folder;
}

/** The files of an image. */
export function imageFiles(image: string) {
  return {
    kernel: join(image, 'kernel'),
    initrd: join(image, 'initrd'),
    root: join(image, 'root.ext4'),
    /** An empty file system: what the disk of each VM begins as. */
    disk: join(image, 'disk.ext4'),
    facts: join(image, 'image.json'),
  };
}

/** The files of a stored VM. */
export function storedFiles(folder: string) {
  return { memory: join(folder, 'memory'), disk: join(folder, 'disk.qcow2') };
}

import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { systemCode, toFileError } from './files/fileError.ts';
import { endSandboxesOf } from './isolation/leftSandboxes.ts';
import { identifyProcess } from './processes.ts';

/** Where root's runners keep their folders: other users' sandboxes must be able to reach what they are shown. */
export const rootScratch = '/var/tmp';

const namePattern = /^sallyport-runner-([0-9]+)-([0-9]+)$/;

/** One runner's own folder: what it needs while it runs, and the folders of its jobs. */
export interface RunnerFolder {
  readonly path: string;
  /** A path for a job's folder, not made yet and never given twice. */
  nextJobFolder(): string;
  /** Writes a file that sandboxes are shown or read from, unless it is there, and returns its path. */
  write(name: string, content: string | Uint8Array): string;
  remove(): void;
}

export interface RunnerFolderOptions {
  readonly scratch: string;
  readonly pid: number;
  /** Lets other users pass through to what they own, without listing anything. Default: nobody else gets in. */
  readonly passable?: boolean;
}

/**
 * Makes this runner's folder. Its name says which process it belongs to, so that what a killed runner left is found
 * later. Throws `disk-full` or `unreadable`, the latter also where something of that name is there.
 */
export function createRunnerFolder({ scratch, pid, passable = false }: RunnerFolderOptions): RunnerFolder {
  const path = join(scratch, `sallyport-runner-${pid}-${identifyProcess(pid)?.startTicks ?? '0'}`);
  const jobsFolder = join(path, 'jobs');
  try {
    for (const each of [path, jobsFolder]) {
      mkdirSync(each, { mode: 0o700 });
      if (passable) chmodSync(each, 0o711);
    }
  } catch (error) {
    throw toFileError(error, 'make the folder', path);
  }
  let jobs = 0;
  return {
    path,
    nextJobFolder: () => join(jobsFolder, String(++jobs)),
    write(name, content) {
      const file = join(path, name);
      try {
        mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
        // Sandboxes that stand go on seeing a file that was written before.
        if (!existsSync(file)) writeFileSync(file, content, { mode: 0o644 });
      } catch (error) {
        throw toFileError(error, 'write', file);
      }
      return file;
    },
    remove: () => removeFolder(path),
  };
}

/**
 * Ends what is left of this user's runners that are gone, and removes their folders, never `own`. Returns how many there
 * were. Throws `unreadable`.
 */
export function sweepRunnerFolders(scratch: string, uid: number, own: string): number {
  try {
    const left = readdirSync(scratch)
      .filter(isAbandoned)
      .map((name) => join(scratch, name))
      // Others sweep at the same time.
      .filter((path) => path !== own && lstatSync(path, { throwIfNoEntry: false })?.uid === uid);
    if (left.length > 0) {
      const real = realpathSync(scratch);
      endSandboxesOf(left.map((path) => join(real, basename(path))));
    }
    for (const path of left) removeFolder(path);
    return left.length;
  } catch (error) {
    throw toFileError(error, 'clean', scratch);
  }
}

/** Deletes a folder with all that is in it, links as links, and folders that forbid even their owner to look. */
export function removeFolder(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch (error) {
    if (systemCode(error) !== 'EACCES' && systemCode(error) !== 'EPERM') throw error;
    openUp(path);
    rmSync(path, { recursive: true, force: true });
  }
}

/** Only for folders that nothing else can change any more. */
function openUp(path: string): void {
  chmodSync(path, 0o700);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(path, entry.name));
  }
}

function isAbandoned(name: string): boolean {
  const [, pid, startTicks] = namePattern.exec(name) ?? [];
  return pid !== undefined && identifyProcess(Number(pid))?.startTicks !== startTicks;
}

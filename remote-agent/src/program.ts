import { posix } from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import type { JobSpec } from '../../protocol/src/runner.ts';
import { interpreterRemedy, programFolders, type Interpreters } from './interpreters.ts';
import { nodeHeapFlag } from './limits.ts';

/** Longest parameters: a string of an environment is at most 128 KiB on Linux (execve(2)). */
const paramsBytes = 120 * 1024;

export interface ProgramPlace {
  readonly interpreters: Interpreters;
  readonly platform: NodeJS.Platform;
  readonly hasFile: (path: string) => boolean;
  /** Where the card's folder is seen by its program. */
  readonly cardFolder: string;
}

/**
 * The argument list of a job's program, by paths inside the sandbox. A `command` may name a program of the system
 * (`sort`), one of the card's own folder (`./tool`, `bin/tool`), or an absolute path.
 * Throws `interpreter-missing` with the remedy, and `bad-message` for an entry that leads out of the card's folder.
 */
export function programOf(job: JobSpec, place: ProgramPlace): [string, ...string[]] {
  if (Buffer.byteLength(job.params) > paramsBytes) {
    throw new UserError('too-large', `The parameters are longer than ${paramsBytes} bytes`);
  }
  if (job.runtime === 'command') return commandOf(job, place);
  const interpreter = place.interpreters[job.runtime];
  if (!interpreter) {
    const remedy = interpreterRemedy(job.runtime, place.platform);
    throw new UserError('interpreter-missing', `Nothing here runs ${job.runtime} cards`, { remedy });
  }
  if (typeof job.entry !== 'string') throw badEntry('a file of the card is needed');
  const flags = job.runtime === 'node' ? [nodeHeapFlag(job.limits)] : [];
  return [interpreter.path, ...flags, inCard(place, job.entry)];
}

function commandOf(job: JobSpec, place: ProgramPlace): [string, ...string[]] {
  const [name, ...words] = typeof job.entry === 'string' ? [job.entry] : job.entry;
  if (!name || [name, ...words].some((word) => word.includes('\0'))) throw badEntry('a program is needed');
  if (posix.isAbsolute(name)) return [name, ...words];
  if (name.includes('/')) return [inCard(place, name), ...words];
  const found = programFolders.map((folder) => `${folder}/${name}`).find(place.hasFile);
  if (found !== undefined) return [found, ...words];
  throw new UserError('interpreter-missing', `The program ${name} is not in ${programFolders.join(', ')}`, {
    remedy: `Install ${name} from your distribution, or put it into the card's folder and name it ./${name}`,
  });
}

function inCard(place: ProgramPlace, entry: string): string {
  const relative = posix.normalize(entry);
  const leadsOut = posix.isAbsolute(relative) || relative === '..' || relative.startsWith('../');
  if (leadsOut || relative === '.' || entry.includes('\0')) throw badEntry(`${entry} is no file of the card`);
  return `${place.cardFolder}/${relative}`;
}

function badEntry(problem: string): UserError {
  return new UserError('bad-message', `The entry of the card can't be run: ${problem}`);
}

import { isBatchName, type BatchTask, type SubmitAnswer } from './batchSystem.ts';
import { describeReason, endOfSlurmState, isRunningSlurmState } from './slurmWords.ts';

/** What a program of Slurm printed. `code` is undefined where it was ended because it took too long. */
export interface SlurmAnswer {
  readonly code: number | undefined;
  readonly stdout: string;
  readonly stderr: string;
}

/** The fields that `parseQueue` reads: id, array index, state, reason, name. None but the reason can hold `|`. */
export const queueFormat = '%F|%K|%T|%j|%r';

/** The output of `squeue --noheader --array --format=…`: our own tasks, whatever else the user has. */
export function parseQueue(text: string): BatchTask[] {
  return text.split('\n').flatMap((line): BatchTask[] => {
    const [id = '', index = '', word = '', name = '', ...reason] = line.trim().split('|');
    return taskOf(id, index, word, name, reason.join('|'));
  });
}

/** The fields that `parseAccounting` reads. */
export const accountingFormat = 'JobID,State,JobName';

/** The output of `sacct --noheader --parsable2 --allocations --format=…`. */
export function parseAccounting(text: string): BatchTask[] {
  return text.split('\n').flatMap((line): BatchTask[] => {
    const [job = '', word = '', name = ''] = line.trim().split('|');
    const [id = '', index = 'N/A'] = job.split('_');
    return taskOf(id, index, word, name, '');
  });
}

function taskOf(id: string, index: string, word: string, name: string, reason: string): BatchTask[] {
  const isArray = /^[0-9]{1,9}$/.test(index);
  if (!/^[0-9]{1,12}$/.test(id) || !isBatchName(name) || !(isArray || index === 'N/A')) return [];
  return [
    {
      name,
      index: isArray ? Number(index) : 0,
      handle: isArray ? `${id}_${index}` : id,
      word: /^[A-Z_]{1,30}/.exec(word)?.[0] ?? 'UNKNOWN',
      reason: describeReason(reason.slice(0, 200)),
      end: endOfSlurmState(word),
      isRunning: isRunningSlurmState(word),
    },
  ];
}

/** What `sbatch --parsable` answered: `123` or `123;cluster`, perhaps after lines of a site's own plug-ins. */
export function parseSubmit({ code, stdout, stderr }: SlurmAnswer): SubmitAnswer {
  const id = /^([0-9]{1,12})(?:;[^\n]*)?$/m.exec(stdout.trim())?.[1];
  if (code === 0 && id !== undefined) return { kind: 'submitted', id };
  const detail = saidBy({ code, stdout, stderr });
  const isUnsure = code === undefined || code === 0 || isControllerAway(stderr);
  return { kind: isUnsure ? 'unsure' : 'refused', detail };
}

/** True where the controller was not reached, or too busy: asking again may help. */
export function isControllerAway(stderr: string): boolean {
  return /Unable to contact slurm controller|Connection refused|Connection timed out|Socket timed out|Transport endpoint|Zero Bytes were transmitted|Resource temporarily unavailable|slurm_persist_conn|backup controller|Protocol authentication error|Munge encode failed|temporarily/i.test(
    stderr,
  );
}

/** MaxArraySize of `scontrol show config`; an index must be below it. Undefined where it is not told. */
export function parseLargestArray(text: string): number | undefined {
  const found = /^\s*MaxArraySize\s*=\s*([0-9]{1,9})\s*$/m.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}

/** The last of what a program said, on one line. */
export function saidBy({ code, stdout, stderr }: SlurmAnswer): string {
  const text = (stderr.trim() || stdout.trim()).replaceAll(/\s*\n\s*/g, '; ').slice(-500);
  return text || (code === undefined ? 'it did not answer in time' : `it ended with ${code}`);
}

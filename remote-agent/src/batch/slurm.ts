import { UserError } from '../../../protocol/src/errors.ts';
import { slurmChoices, type SlurmChoice } from '../../../protocol/src/slurmChoice.ts';
import type { BatchRequest, BatchSystem, BatchTask } from './batchSystem.ts';
import {
  accountingFormat,
  isControllerAway,
  parseAccounting,
  parseLargestArray,
  parseQueue,
  parseSubmit,
  queueFormat,
  saidBy,
  type SlurmAnswer,
} from './slurmOutput.ts';

/**
 * Runs a program of Slurm with exactly these words, no shell in between, and ends it when it takes too long. Rejects
 * only where it can't be started.
 */
export type RunSlurm = (program: string, words: readonly string[], input?: string) => Promise<SlurmAnswer>;

/** What the runner, Node and staging need beside the card. */
const extraMemoryMB = 300;
const extraSeconds = 120;
/** No more of one array, whatever the cluster allows. */
const mostTasks = 1000;
/** Names of one query: a command line has an end. */
const namesAtOnce = 200;

/** Slurm by its own commands, 20.11 and later. */
export function createSlurm(run: RunSlurm, choice: SlurmChoice = {}): BatchSystem {
  const chosen = chosenWords(choice);
  const ask = async (program: string, words: readonly string[]): Promise<SlurmAnswer> => {
    const answer = await run(program, words);
    if (answer.code === undefined || (answer.code !== 0 && isControllerAway(answer.stderr)))
      throw away(saidBy(answer));
    return answer;
  };
  return {
    title: 'Slurm',
    advice: {
      refused:
        'Account and partition are named by the setting sallyport.slurm, or in the start-up file of your shell on the login node (SBATCH_ACCOUNT, SBATCH_PARTITION).',
      otherFolder:
        'Another folder is named by SALLYPORT_SLURM_DIR in the start-up file of your shell on the login node.',
    },
    chosen: chosen.join(' '),
    // sbatch(1), OUTPUT ENVIRONMENT VARIABLES.
    told: {
      index: '${SLURM_ARRAY_TASK_ID:-0}',
      task: '${SLURM_ARRAY_JOB_ID:-$SLURM_JOB_ID}_${SLURM_ARRAY_TASK_ID:-0}',
      restart: '${SLURM_RESTART_COUNT:-0}',
    },
    submit: async ({ script, ...request }) => {
      try {
        return parseSubmit(await run('sbatch', [...submitWords(request), ...chosen], script));
      } catch (error) {
        return { kind: 'refused', detail: String(error) };
      }
    },
    states: async (names) => {
      const tasks: BatchTask[] = [];
      for (let at = 0; at < names.length; at += namesAtOnce) {
        const words = ['--noheader', '--array', '--states=all', `--format=${queueFormat}`];
        const chosen = `--name=${names.slice(at, at + namesAtOnce).join(',')}`;
        const answer = await ask('squeue', [...words, chosen]);
        if (answer.code !== 0) throw away(saidBy(answer));
        tasks.push(...parseQueue(answer.stdout));
      }
      const found = new Set(tasks.map(({ name }) => name));
      const aged = names.filter((name) => !found.has(name));
      return aged.length === 0 ? tasks : [...tasks, ...(await fromAccounting(ask, aged))];
    },
    cancel: async (handles) => {
      for (let at = 0; at < handles.length; at += namesAtOnce)
        await ask('scancel', ['--quiet', ...handles.slice(at, at + namesAtOnce)]);
    },
    largestRequest: async () => {
      const answer = await ask('scontrol', ['show', 'config']);
      const size = parseLargestArray(answer.stdout);
      return Math.max(1, Math.min(mostTasks, (size ?? mostTasks + 1) - 1));
    },
  };
}

/** A cluster without accounting says so and knows nothing more; then the result files decide. */
async function fromAccounting(
  ask: (program: string, words: readonly string[]) => Promise<SlurmAnswer>,
  names: readonly string[],
): Promise<BatchTask[]> {
  try {
    const words = ['--noheader', '--parsable2', '--allocations', `--format=${accountingFormat}`];
    const answer = await ask('sacct', [...words, '--starttime=now-30days', `--name=${names.join(',')}`]);
    return answer.code === 0 ? parseAccounting(answer.stdout) : [];
  } catch {
    return [];
  }
}

/**
 * The words of one request. The environment of the person who asks goes nowhere, Slurm starts nothing again by itself,
 * and files of its own are not written: what the script says goes to the shared folder.
 */
export function submitWords({ name, count, limits, waitSeconds }: Omit<BatchRequest, 'script'>): string[] {
  return [
    '--parsable',
    '--export=NONE',
    '--no-requeue',
    `--job-name=${name}`,
    '--comment=sallyport',
    '--chdir=/',
    '--output=/dev/null',
    '--error=/dev/null',
    '--nodes=1',
    '--ntasks=1',
    '--cpus-per-task=1',
    `--time=${Math.ceil((limits.seconds + waitSeconds + extraSeconds) / 60)}`,
    `--mem=${limits.memoryMB + extraMemoryMB}M`,
    ...(count > 1 ? [`--array=0-${count - 1}`] : []),
  ];
}

/** Nothing where a person chose nothing: what their shell names counts then. */
function chosenWords(choice: SlurmChoice): string[] {
  return slurmChoices.flatMap((name) => {
    const word = choice[name];
    return word === undefined ? [] : [`--${name}=${word}`];
  });
}

function away(said: string): UserError {
  return new UserError('unreachable', `Slurm’s controller doesn’t answer: ${said}`, {
    remedy: 'Nothing is lost: it is asked again. If it stays so, ask whoever runs the cluster.',
  });
}

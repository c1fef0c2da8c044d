import { execFile } from 'node:child_process';
import { UserError } from '../../../protocol/src/errors.ts';
import { systemCode } from '../files/fileError.ts';
import type { RunSlurm } from './slurm.ts';

/** Longer than Slurm's own patience with a controller that is down. */
const answerMs = 20_000;

/** Runs Slurm's programs as they are on this machine. */
export function createRunSlurm(env: Readonly<Record<string, string | undefined>>): RunSlurm {
  return (program, words, input = '') =>
    new Promise((resolve, reject) => {
      const child = execFile(
        program,
        [...words],
        { env, timeout: answerMs, killSignal: 'SIGKILL', maxBuffer: 64 * 1024 * 1024, cwd: '/' },
        (error, stdout, stderr) => {
          if (systemCode(error) === 'ENOENT')
            reject(
              new UserError(
                'not-found',
                `There is no ${program} on this host: it is no login node of a Slurm cluster`,
                {
                  remedy: 'Name the host from which you use Slurm, and see that its shell finds sbatch.',
                },
              ),
            );
          else resolve({ code: error ? (child.exitCode ?? undefined) : 0, stdout, stderr });
        },
      );
      child.stdin?.on('error', () => undefined).end(input);
    });
}

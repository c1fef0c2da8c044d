import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { spawnRunner } from '../../language-server/src/environment.ts';
import { createLocalRunner } from '../../language-server/src/runners/local.ts';
import type { EngineServicesOptions } from '../../language-server/src/services.ts';
import { bundledRunner } from './bundledRunner.ts';
import { TestEngine } from './testEngine.ts';

/**
 * An engine with the real runner here and over SSH, where `ssh` reads the configuration file of a test. `program` is the
 * runner's file.
 */
export function openPlaceEngine(
  home: string,
  root: string,
  sshConfig: string,
  more: Partial<EngineServicesOptions> = {},
  program: string = bundledRunner(),
): TestEngine {
  return new TestEngine(home, root, {
    ...more,
    createRunner: (folders) =>
      createLocalRunner({
        spawn: () => spawnRunner(program),
        ...folders,
        maxJobs: 2,
        onProblem: () => undefined,
      }),
    placeSurroundings: {
      programs: dirname(program),
      ssh: {
        home: '/nowhere',
        agent: undefined,
        runSsh: (words) =>
          new Promise((resolve, reject) => {
            execFile('ssh', ['-F', sshConfig, ...words], (error, stdout, stderr) =>
              error ? reject(new Error(stderr)) : resolve(stdout),
            );
          }),
      },
      ...more.placeSurroundings,
    },
  });
}

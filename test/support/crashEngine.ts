import { join } from 'node:path';
import { createLocalRunner } from '../../language-server/src/runners/local.ts';
import { TestEngine } from './testEngine.ts';
import { spawnScriptedRunner } from './scriptedRunner.ts';
import { killAtStep } from './killAtStep.ts';

/**
 * An engine in a process of its own, to be killed: runs the project of `argv[2]` (its folder holds `home` and
 * `project`) and kills itself with SIGKILL at the `argv[4]`-th database step of the kind `argv[3]`.
 */
const [, , folder = '', kind = '', countText = '1'] = process.argv;

const engine = new TestEngine(join(folder, 'home'), join(folder, 'project'), {
  parallel: 2,
  ...(kind === 'job'
    ? {
        createRunner: (home) =>
          createLocalRunner({
            spawn: () => spawnScriptedRunner(),
            ...home,
            maxJobs: 2,
            onProblem: () => undefined,
          }),
      }
    : {}),
});

killAtStep(['run', 'exec'], kind, Number(countText));
const view = await engine.run();
process.stdout.write(JSON.stringify(view.cards.map(({ id, status }) => [id, status.state])));
await engine.dispose();

import { join } from 'node:path';
import { openPlaceEngine } from './placeEngine.ts';
import { killAtStep } from './killAtStep.ts';

/**
 * An engine in a process of its own that runs the project of `argv[2]` over SSH and kills itself with SIGKILL before the
 * `argv[4]`-th database statement that begins with `argv[3]`. `argv[5]` is the runner's file.
 */
const [, , folder = '', kind = '', countText = '1', program = ''] = process.argv;
const engine = openPlaceEngine(
  join(folder, 'home'),
  join(folder, 'project'),
  join(folder, 'ssh_config'),
  {},
  program,
);
await engine.acceptAll();
killAtStep(['run', 'exec'], kind, Number(countText));
const view = await engine.run();
process.stdout.write(JSON.stringify(view.cards.map(({ id, status }) => [id, status.state])));
await engine.dispose();

import { join } from 'node:path';
import { openPlaceEngine } from './placeEngine.ts';
import { until } from './until.ts';

/**
 * An engine in a process of its own that runs the project of `argv[2]` over SSH, to be killed in the middle: prints `up`
 * when a card has written its first line. `argv[3]` is the runner's file.
 */
const [, , folder = '', program = ''] = process.argv;
const at = (name: string) => join(folder, name);
const engine = openPlaceEngine(at('home'), at('project'), at('ssh_config'), {}, program);
await engine.acceptAll();
await engine.start();
await until(() => engine.told.some(({ method }) => method === 'log/appended'));
process.stdout.write('up\n');
setInterval(() => undefined, 60_000);

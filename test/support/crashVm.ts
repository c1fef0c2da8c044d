import { Heard } from './remotePlace.ts';
import { openTestVms } from './vm.ts';

/** Run as a process of its own, to be killed: starts the job that it is given in a VM and says when it has begun. */
const [home = '', runner = '', blobs = '', job = ''] = process.argv.slice(2);
const { place } = openTestVms(home, runner, blobs);
const heard = new Heard();
heard.log = (_stream, text) => void process.stdout.write(text);
await place.run(JSON.parse(job) as Parameters<typeof place.run>[0], heard, new AbortController().signal);

import { errorMessage } from '../../protocol/src/errors.ts';
import { cgroupMount, openCgroup, readOwnCgroup } from './cgroup.ts';
import { runBatchCommand } from './batch/batchCommand.ts';
import { readEnvironment, readTrustPaths } from './environment.ts';
import { closeInheritedDescriptors } from './inheritedDescriptors.ts';
import { probeHere } from './isolation/probeHere.ts';
import { runGuest } from './guest/guestCommand.ts';
import type { RunnerOptions } from './runner.ts';
import { runServedCommand } from './served/servedCommands.ts';
import { runForOneEngine } from './stdioRunner.ts';
import { runWorkerCommand } from './worker/workerCommand.ts';

/**
 * The runner. Without arguments: one process that runs jobs for one engine, spoken to over its standard input and
 * output; it ends with its input, on SIGTERM, SIGINT and SIGHUP, and takes every job with it; killed outright, the
 * kernel ends them in its place. With `serve` or `connect` it is the runner of another place (`served/`), with `guest`
 * that of a VM (`guest/`), with `worker` a host that several people share (`worker/`), with `batch` a cluster's end on its
 * login node and each task on a node (`batch/`).
 */
const descriptors = closeInheritedDescriptors(readTrustPaths());

const environment = readEnvironment();
const report = (text: string) => void process.stderr.write(`sallyport runner: ${text}\n`);

const options: Omit<RunnerOptions, 'events' | 'flow'> = {
  version: '0.1.0',
  environment,
  now: () => performance.now(),
  probe: (folder, interpreters) => {
    descriptors.closeRest();
    return probeHere(environment, folder, interpreters);
  },
  openCgroup: () => openCgroup(cgroupMount, readOwnCgroup(), environment.pid),
  onProblem: (doing, error) => report(`failed to ${doing}: ${errorMessage(error)}`),
};

const words = process.argv.slice(2);
if (words.length === 0) runForOneEngine(options, report);
else if (words[0] === 'guest') void runGuest(options, report);
else if (words[0] === 'worker') void runWorkerCommand(words.slice(1), environment.uid);
else if (words[0] === 'batch') void runBatchCommand(words.slice(1), options, report);
else void runServedCommand(words, options, report);

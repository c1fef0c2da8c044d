import { readFileSync } from 'node:fs';
import { Channel } from '../../protocol/src/channel.ts';
import { errorMessage } from '../../protocol/src/errors.ts';
import { runnerEvents, runnerSide } from '../../protocol/src/runner.ts';
import { openCgroup } from './cgroup.ts';
import { readEnvironment } from './environment.ts';
import { closeInheritedDescriptors } from './inheritedDescriptors.ts';
import { probeHere } from './isolation/probeHere.ts';
import { Runner } from './runner.ts';
import { openStandardOutput, StdioTransport } from './stdioTransport.ts';

/**
 * The runner: one process that runs jobs for one engine, spoken to over its standard input and output. It ends with its
 * input, on SIGTERM, SIGINT and SIGHUP, and takes every job with it; killed outright, the kernel ends them in its place.
 */
closeInheritedDescriptors();

const environment = readEnvironment();
const transport = new StdioTransport(process.stdin, openStandardOutput());
const report = (text: string) => void process.stderr.write(`sallyport runner: ${text}\n`);

const runner = new Runner({
  version: '0.1.0',
  environment,
  flow: transport,
  now: () => performance.now(),
  events: {
    started: (jobId) => channel.notify('job/started', { jobId }),
    log: (jobId, stream, text) => channel.notify('job/log', { jobId, stream, text }),
    progress: (jobId, fraction, text) => channel.notify('job/progress', { jobId, fraction, text }),
    egress: (record) => channel.notify('egress/record', record),
  },
  probe: (folder, interpreters) => probeHere(environment, folder, interpreters),
  openCgroup: () => openCgroup('/sys/fs/cgroup', readOwnCgroup(), environment.pid),
  onProblem: (doing, error) => report(`failed to ${doing}: ${errorMessage(error)}`),
});

const channel: Channel<typeof runnerSide, typeof runnerEvents> = new Channel(transport, runnerEvents, {
  local: runnerSide,
  requestHandlers: runner.handlers,
  notificationHandlers: {},
  onBadMessage: (method, problem) => report(`bad message ${method}: ${problem}`),
  onClose: () => void stop(),
});

for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.once(signal, () => transport.close());

async function stop(): Promise<void> {
  try {
    await runner.dispose();
  } catch (error) {
    report(`failed to end cleanly: ${errorMessage(error)}`);
    process.exitCode = 1;
  }
  process.exit();
}

function readOwnCgroup(): string {
  try {
    return readFileSync('/proc/self/cgroup', 'utf8');
  } catch {
    return '';
  }
}

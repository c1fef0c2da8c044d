import { appendFileSync, existsSync } from 'node:fs';
import { Channel } from '../../protocol/src/channel.ts';
import { UserError } from '../../protocol/src/errors.ts';
import { runnerEvents, runnerSide, type JobResult, type JobSpec } from '../../protocol/src/runner.ts';
import { createStdioTransport } from '../../language-server/src/runners/stdioTransport.ts';
import { createBlobStore, type BlobStore } from '../../remote-agent/src/files/blobStore.ts';
import { endedWith, soundIsolation } from './fakeRunner.ts';

/**
 * A runner process that runs nothing. What a job does is its entry: `hang` waits for its cancellation, `die` (or any `command`)
 * kills the runner, `log` writes, anything else succeeds. `--deaf` answers no hello, `--old` speaks another protocol, `--garbage`
 * writes what is no message, `--start-log FILE` appends a line at each start, `--dies-until FILE` dies at the start as
 * long as FILE is not there.
 */
const option = (name: string) => {
  const at = process.argv.indexOf(name);
  return at === -1 ? undefined : (process.argv[at + 1] ?? '');
};
const startLog = option('--start-log');
if (startLog !== undefined) appendFileSync(startLog, `${process.pid} ${Object.keys(process.env).length}\n`);
const diesUntil = option('--dies-until');
if (diesUntil !== undefined && !existsSync(diesUntil)) process.exit(3);
if (option('--garbage') !== undefined) process.stdout.write('Content-Length: 5\r\n\r\n{bad}');

let blobs: BlobStore | undefined;
const hanging = new Map<string, () => void>();
const channel = new Channel(createStdioTransport(process.stdin, process.stdout), runnerEvents, {
  local: runnerSide,
  requestHandlers: {
    'runner/hello': (params) => {
      if (option('--deaf') !== undefined) throw new UserError('internal', 'no');
      blobs = createBlobStore(params.blobs);
      return {
        protocol: option('--old') === undefined ? 1 : 0,
        version: '1',
        platform: 'linux-x64',
        node: process.version,
        isolation: soundIsolation,
        interpreters: [{ runtime: 'python' as const, path: '/usr/bin/python3', version: '3.11' }],
      };
    },
    'runner/probe': () => soundIsolation,
    'runner/sweep': () => ({ removed: 0 }),
    'job/cancel': ({ jobId }) => {
      const cancel = hanging.get(jobId);
      cancel?.();
      return { found: cancel !== undefined };
    },
    'job/run': (job) => run(job),
  },
  notificationHandlers: {},
  onClose: () => process.exit(0),
});

async function run(job: JobSpec): Promise<JobResult> {
  const { jobId } = job;
  channel.notify('job/started', { jobId });
  if (job.entry === 'die' || job.runtime === 'command') process.kill(process.pid, 'SIGKILL');
  if (job.entry === 'hang') {
    await new Promise<void>((resolve) => hanging.set(jobId, resolve));
    return endedWith({ kind: 'cancelled' });
  }
  if (job.entry === 'log') {
    channel.notify('job/log', { jobId, stream: 'stdout', text: 'one\ntwo\n' });
    channel.notify('job/log', { jobId: 'another', stream: 'stdout', text: 'not mine\n' });
    channel.notify('job/progress', { jobId, fraction: 0.5, text: 'half' });
  }
  const outputs = job.outputs.map(({ port }) => {
    const blob = blobs?.putBytes(Buffer.from(`${job.cardId} ${port}`)) ?? {
      digest: '0'.repeat(64),
      sizeBytes: 0,
    };
    return [port, { kind: 'file' as const, ...blob, files: 1 }];
  });
  return {
    ...endedWith({ kind: 'exited', exitCode: 0 }),
    outputs: Object.fromEntries(outputs) as JobResult['outputs'],
  };
}

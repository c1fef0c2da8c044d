import { Channel } from '../../protocol/src/channel.ts';
import { errorMessage } from '../../protocol/src/errors.ts';
import { runnerEvents, runnerSide } from '../../protocol/src/runner.ts';
import { Runner, type RunnerOptions } from './runner.ts';
import { openStandardOutput, StdioTransport } from './stdioTransport.ts';

/** Serves one engine over standard input and output until either ends, and ends the process then with every job. */
export function runForOneEngine(
  options: Omit<RunnerOptions, 'events' | 'flow'>,
  report: (text: string) => void,
): void {
  const transport = new StdioTransport(process.stdin, openStandardOutput());
  const runner = new Runner({
    ...options,
    flow: transport,
    events: {
      started: (jobId) => channel.notify('job/started', { jobId }),
      log: (jobId, stream, text) => channel.notify('job/log', { jobId, stream, text }),
      progress: (jobId, fraction, text) => channel.notify('job/progress', { jobId, fraction, text }),
      egress: (record) => channel.notify('egress/record', record),
    },
  });
  const channel: Channel<typeof runnerSide, typeof runnerEvents> = new Channel(transport, runnerEvents, {
    local: runnerSide,
    requestHandlers: runner.handlers,
    notificationHandlers: {},
    onBadMessage: (method, problem) => report(`bad message ${method}: ${problem}`),
    onClose: () => void stop(),
  });
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const)
    process.once(signal, () => transport.close());

  async function stop(): Promise<void> {
    try {
      await runner.dispose();
    } catch (error) {
      report(`failed to end cleanly: ${errorMessage(error)}`);
      process.exitCode = 1;
    }
    process.exit();
  }
}

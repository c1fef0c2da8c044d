import { parentPort, workerData } from 'node:worker_threads';
import { Channel } from '../../protocol/src/channel.ts';
import { limits } from '../../protocol/src/limits.ts';
import { portTransport } from '../../protocol/src/portTransport.ts';
import { workerEvents, workerSide, type SandboxWorkerData } from '../../protocol/src/worker.ts';
import { LogPump } from './logPump.ts';
import { createSandbox } from './sandbox.ts';

/** Milliseconds between two reports of progress. */
const progressEveryMs = 50;

if (parentPort === null) throw new Error('Failed to start: sandbox-worker runs as a worker thread');
const port = parentPort;
const now = () => performance.now();
keepUtc();
const sandbox = await createSandbox({ ...(workerData as SandboxWorkerData<WebAssembly.Module>), now });
const channel = new Channel(
  portTransport(port, () => port.close()),
  workerEvents,
  {
    local: workerSide,
    requestHandlers: {
      'card/run': (job) => {
        const pump = new LogPump({
          send: (stream, text) => channel.notify('card/log', { stream, text }),
          now,
          chunkLength: limits.logChunkBytes / 4,
        });
        let progressAt = -Infinity;
        const result = sandbox.run(job, {
          log: (stream, text) => pump.write(stream, text),
          progress(fraction, text) {
            if (fraction < 1 && now() - progressAt < progressEveryMs) return;
            progressAt = now();
            channel.notify('card/progress', { fraction, text });
          },
          tick: () => pump.tick(),
        });
        pump.flush();
        return result;
      },
    },
    notificationHandlers: {},
  },
);
channel.notify('worker/ready', {});

/** The instance asks this thread's `Date` for the local time: a card's result must not hang on where it runs. */
function keepUtc(): void {
  const date = Date.prototype as unknown as Record<string, unknown>;
  date['getTimezoneOffset'] = () => 0;
  for (const part of ['Seconds', 'Minutes', 'Hours', 'Date', 'Month', 'FullYear', 'Day'])
    date[`get${part}`] = date[`getUTC${part}`];
}

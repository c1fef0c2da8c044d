import { parentPort, workerData } from 'node:worker_threads';
import { Channel, type Transport } from '../../protocol/src/channel.ts';
import { limits } from '../../protocol/src/limits.ts';
import { portTransport } from '../../protocol/src/portTransport.ts';
import {
  workerEvents,
  workerSide,
  type JsCardResult,
  type SandboxWorkerData,
} from '../../protocol/src/worker.ts';
import { keepUtc } from './keepUtc.ts';
import { LogPump } from './logPump.ts';
import { ProgressPump } from './progressPump.ts';
import { createSandbox, warmUpJob } from './sandbox.ts';

/** The first round compiles, the next ones give V8 what it learns from: a card is served in two thirds of the time. */
const warmUpRounds = 3;

if (parentPort === null) throw new Error('Failed to start: sandbox-worker runs as a worker thread');
const port = parentPort;
const now = () => performance.now();
keepUtc();
const sandbox = await createSandbox({ ...(workerData as SandboxWorkerData<WebAssembly.Module>), now });
for (let round = 0; round < warmUpRounds; round++) await warmUp();
serve(portTransport(port, () => port.close())).notify('worker/ready', {});

/** Answers `card/run` on a transport. */
function serve(transport: Transport) {
  const channel = new Channel(transport, workerEvents, {
    local: workerSide,
    notificationHandlers: {},
    requestHandlers: {
      'card/run': (job) => {
        const log = new LogPump({
          send: (stream, text) => channel.notify('card/log', { stream, text }),
          now,
          chunkLength: limits.logChunkBytes / 4,
        });
        const progress = new ProgressPump({
          send: (fraction, text) => channel.notify('card/progress', { fraction, text }),
          now,
        });
        const result = sandbox.run(job, {
          log: (stream, text) => log.write(stream, text),
          progress: (fraction, text) => progress.write(fraction, text),
          tick() {
            log.tick();
            progress.tick();
          },
        });
        log.flush();
        progress.flush();
        return result;
      },
    },
  });
  return channel;
}

/** Sends the warm-up card through a channel that leads nowhere. Throws where it fails: such an instance must not serve. */
async function warmUp(): Promise<void> {
  const answer = await new Promise<object>((resolve) => {
    serve({
      // Later: the channel is still being made.
      start: (onMessage) =>
        queueMicrotask(() => onMessage({ jsonrpc: '2.0', id: 1, method: 'card/run', params: warmUpJob })),
      send: (message) => {
        if (typeof message === 'object' && message !== null && 'id' in message) resolve(message);
      },
      close: () => undefined,
    });
  });
  const { result } = answer as { result?: JsCardResult };
  if (result?.kind !== 'ok') throw new Error(`Failed to start QuickJS: ${JSON.stringify(answer)}`);
  sandbox.reset();
}

import { parentPort, workerData } from 'node:worker_threads';
import { Channel } from '../../protocol/src/channel.ts';
import { pluginWorkerEvents, pluginWorkerSide } from '../../protocol/src/plugin.ts';
import { portTransport } from '../../protocol/src/portTransport.ts';
import type { SandboxWorkerData } from '../../protocol/src/worker.ts';
import { keepUtc } from './keepUtc.ts';
import { createPluginSandbox } from './pluginSandbox.ts';

if (parentPort === null) throw new Error('Failed to start: plugin-worker runs as a worker thread');
const port = parentPort;
keepUtc();

/** The last that the engine sent which lets the plugin run. */
let heard = 0;
const sandbox = await createPluginSandbox({
  ...(workerData as SandboxWorkerData<WebAssembly.Module>),
  now: () => performance.now(),
  date: Date.now,
  events: {
    hostCall: (id, name, params) => channel.notify('host/call', { id, name, params }),
    log: (level, text) => channel.notify('plugin/log', { level, text }),
    waiting: () => channel.notify('plugin/waiting', { seq: heard }),
  },
});
const channel = new Channel(
  portTransport(port, () => port.close()),
  pluginWorkerEvents,
  {
    local: pluginWorkerSide,
    requestHandlers: {
      'plugin/load': ({ modules, entry }) => ({ problem: sandbox.load(modules, entry) }),
      'plugin/call': ({ functionName, input, interruptMs, seq }) => {
        heard = seq;
        return sandbox.call(functionName, input, interruptMs);
      },
    },
    notificationHandlers: {
      'host/answer': ({ id, seq, ok, text }) => {
        heard = seq;
        sandbox.answer({ id, ok, text });
      },
    },
  },
);
channel.notify('worker/ready', {});

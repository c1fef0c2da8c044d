import { connect, type Socket } from 'node:net';
import { createInterface } from 'node:readline';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod/mini';
import { systemCode } from '../../../../remote-agent/src/files/fileError.ts';

const answer = z.union([
  z.object({ return: z.unknown() }),
  z.object({ error: z.object({ class: z.string(), desc: z.string() }) }),
]);

/** QEMU's monitor (docs/interop/qmp-spec.rst of QEMU): one command after another, events left unread. */
export interface Monitor {
  /** Rejects with QEMU's words, or where it has ended. */
  execute(command: string, parameters?: Readonly<Record<string, unknown>>): Promise<unknown>;
  close(): void;
}

/** Talks to the monitor at a socket's path. */
export async function openMonitor(path: string): Promise<Monitor> {
  const socket = await connected(path);
  const waiting: ((line: string | undefined) => void)[] = [];
  const lines = createInterface({ input: socket });
  lines.on('error', () => undefined);
  lines.on('line', (line) => {
    if (/^\{"(return|error)"/.test(line) || line.startsWith('{"QMP"')) waiting.shift()?.(line);
  });
  socket.on('error', () => undefined);
  socket.once('close', () => waiting.splice(0).forEach((tell) => tell(undefined)));
  const next = () => new Promise<string | undefined>((resolve) => waiting.push(resolve));
  const monitor: Monitor = {
    async execute(command, parameters) {
      if (socket.destroyed) throw new Error('QEMU has ended');
      const line = next();
      socket.write(
        `${JSON.stringify({ execute: command, ...(parameters ? { arguments: parameters } : {}) })}\n`,
      );
      const text = await line;
      if (text === undefined) throw new Error(`QEMU ended at ${command}`);
      const parsed = z.parse(answer, JSON.parse(text));
      if ('error' in parsed) throw new Error(`QEMU refused ${command}: ${parsed.error.desc}`);
      return parsed.return;
    },
    close: () => socket.destroy(),
  };
  if ((await next()) === undefined) throw new Error('QEMU has ended');
  await monitor.execute('qmp_capabilities');
  return monitor;
}

/** On a busy machine, QEMU may not have taken up the connections before: then there is no room (connect(2), EAGAIN). */
async function connected(path: string): Promise<Socket> {
  for (let left = tries; ; left -= 1) {
    try {
      return await tryConnect(path);
    } catch (error) {
      if (systemCode(error) !== 'EAGAIN' || left === 0) throw error;
      await wait(retryMs);
    }
  }
}

const retryMs = 20;
const tries = 1_500;

function tryConnect(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once('error', reject);
    socket.once('connect', () => {
      socket.off('error', reject);
      resolve(socket);
    });
  });
}

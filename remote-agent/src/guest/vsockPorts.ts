import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { guestOpeningBytes, guestVsock, type GuestPort } from '../../../protocol/src/vmGuest.ts';
import { vsockRelaySource } from './vsockRelay.ts';

export interface ConnectedPort {
  readonly kind: GuestPort;
  /** As for a serial port: the answer to the first line of a use, or undefined where that is no opening. */
  readonly accept: (line: string) => Promise<string | undefined>;
  readonly onStream: (stream: Duplex) => void;
}

export interface VsockOptions {
  /** Made, for the owner alone: the relay joins connections to sockets in it. */
  readonly folder?: string;
  /** Where the relay listens for a port: its number, or in tests the path of a socket. */
  readonly placeOf?: (kind: GuestPort) => string;
  readonly python?: string;
  /** Called when the host can connect. */
  readonly onReady?: () => void;
  /** Ends it; a VM's ports are served until the VM ends. */
  readonly stop?: AbortSignal;
}

/** Serves ports to which the host connects. Rejects where that ends, which it does not by itself. */
export async function serveVsock(
  ports: readonly ConnectedPort[],
  {
    folder = '/run/sallyport-ports',
    placeOf = (kind) => String(guestVsock.ports[kind]),
    python = '/usr/bin/python3',
    stop,
    onReady = () => undefined,
  }: VsockOptions = {},
): Promise<never> {
  mkdirSync(folder, { mode: 0o700 });
  const servers: Server[] = [];
  for (const port of ports) {
    const server = createServer({ allowHalfOpen: true }, (socket) => void serveUse(socket, port));
    server.listen(join(folder, port.kind));
    servers.push(server);
    await once(server, 'listening');
  }
  const words = ports.flatMap(({ kind }) => [placeOf(kind), join(folder, kind)]);
  const relay = spawn(python, ['-I', '-S', '-c', vsockRelaySource, ...words], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: {},
  });
  relay.stdout.once('data', onReady);
  const end = () => void relay.kill('SIGKILL');
  if (stop?.aborted) end();
  stop?.addEventListener('abort', end, { once: true });
  await once(relay, 'exit');
  for (const server of servers) server.close();
  throw new Error('the relay of the host’s connections has ended');
}

/** One connection: its opening, the answer, and then whatever it is for. */
async function serveUse(socket: Socket, { accept, onStream }: ConnectedPort): Promise<void> {
  socket.on('error', () => undefined);
  try {
    const answer = await accept(await readLine(socket));
    if (answer === undefined) throw new Error('it does not begin as a use does');
    socket.write(answer);
    onStream(socket);
  } catch {
    socket.destroy();
  }
}

/** The first line, without its end; what follows stays to be read. Rejects where there is none in time. */
function readLine(socket: Socket): Promise<string> {
  return new Promise((resolve, reject) => {
    let held = Buffer.alloc(0);
    const done = (act: () => void) => {
      clearTimeout(timer);
      socket.off('readable', look).off('end', give).off('close', give);
      act();
    };
    const give = () => done(() => reject(new Error('it did not begin')));
    const timer = setTimeout(give, openingMs);
    const look = () => {
      for (let chunk = socket.read() as Buffer | null; chunk; chunk = socket.read() as Buffer | null) {
        held = Buffer.concat([held, chunk]);
        const end = held.indexOf(10);
        if (end < 0 && held.length <= guestOpeningBytes) continue;
        if (end < 0) give();
        else
          done(() => {
            if (held.length > end + 1) socket.unshift(held.subarray(end + 1));
            resolve(held.toString('latin1', 0, end));
          });
        return;
      }
    };
    socket.on('readable', look).once('end', give).once('close', give);
  });
}

const openingMs = 30_000;

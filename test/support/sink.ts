import { createSocket } from 'node:dgram';
import { listen } from './webviews.ts';

/** Counts what reaches it: requests by path, bare TCP connections, UDP packets. */
export interface Sink {
  readonly origin: string;
  readonly port: number;
  readonly udpPort: number;
  readonly hits: string[];
  connections: number;
  packets: number;
  close(): Promise<void>;
}

export async function startSink(): Promise<Sink> {
  const udp = createSocket('udp4');
  const server = await listen((request, response) => {
    sink.hits.push(request.url ?? '');
    response.setHeader('access-control-allow-origin', '*');
    response.setHeader('content-type', request.url?.includes('js') ? 'text/javascript' : 'text/html');
    response.end(
      request.url?.includes('js') ? 'globalThis.reached = true; export const x = 1;' : '<p>reached',
    );
  });
  server.server.on('connection', () => sink.connections++);
  server.server.on('upgrade', (request, socket) => {
    sink.hits.push(request.url ?? '');
    socket.destroy();
  });
  await new Promise<void>((resolve) => udp.bind(0, '127.0.0.1', resolve));
  udp.on('message', () => sink.packets++);
  const sink: Sink = {
    origin: server.origin,
    port: server.port,
    udpPort: udp.address().port,
    hits: [],
    connections: 0,
    packets: 0,
    close: async () => {
      await new Promise<void>((resolve) => udp.close(resolve));
      await server.close();
    },
  };
  return sink;
}

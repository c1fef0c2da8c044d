import { createConnection, createServer, type Server, type Socket } from 'node:net';

/** Somebody in between who passes bytes on, keeps those of both sides, and can send them again. */
export class RecordingRelay {
  readonly #target: number;
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  /** What each connection’s client sent, and what it was answered, in order. */
  readonly recorded: { readonly sent: Buffer[]; readonly answered: Buffer[] }[] = [];

  constructor(targetPort: number) {
    this.#target = targetPort;
    this.#server = createServer((client) => {
      const kept = { sent: [] as Buffer[], answered: [] as Buffer[] };
      this.recorded.push(kept);
      const upstream = this.#connect();
      this.#keep(client);
      client.on('data', (chunk: Buffer) => kept.sent.push(chunk));
      upstream.on('data', (chunk: Buffer) => kept.answered.push(chunk));
      client.pipe(upstream).pipe(client);
    });
  }

  async start(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    const address = this.#server.address();
    return typeof address === 'object' && address ? address.port : 0;
  }

  /** Sends what was recorded, all at once or each piece after an answer; what came back until the other end closed. */
  async replay(chunks: readonly Buffer[], how: 'at once' | 'in turn'): Promise<Buffer> {
    const socket = this.#connect();
    const heard: Buffer[] = [];
    const left = [...chunks];
    const send = () => {
      const next = how === 'at once' ? Buffer.concat(left.splice(0)) : left.shift();
      if (next && next.length > 0) socket.write(next);
    };
    socket.on('data', (chunk: Buffer) => {
      heard.push(chunk);
      send();
    });
    socket.once('connect', send);
    await new Promise((resolve) => socket.once('close', resolve));
    return Buffer.concat(heard);
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #connect(): Socket {
    return this.#keep(createConnection({ host: '127.0.0.1', port: this.#target }));
  }

  #keep(socket: Socket): Socket {
    this.#sockets.add(socket);
    socket.on('error', () => undefined).once('close', () => this.#sockets.delete(socket));
    return socket;
  }
}

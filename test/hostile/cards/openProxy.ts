import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** A proxy that asks nothing: whatever is named leads to one port of this machine. */
export interface OpenProxy {
  readonly url: string;
  close(): Promise<void>;
}

/** The control of everything that a card asks the egress proxy for. */
export async function startOpenProxy(port: number): Promise<OpenProxy> {
  const open = new Set<Socket>();
  const keep = (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => undefined);
    socket.once('close', () => open.delete(socket));
  };
  const server = createServer((client) => {
    keep(client);
    client.once('data', (head) => {
      const upstream = connect(port, '127.0.0.1');
      keep(upstream);
      if (head.toString('latin1').startsWith('CONNECT '))
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
      else upstream.write(head);
      client.pipe(upstream).pipe(client);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

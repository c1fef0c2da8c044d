import { connect, type AddressInfo } from 'node:net';
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import type { EgressNetwork } from '../../remote-agent/src/egressDial.ts';

export interface SeenRequest {
  readonly method: string;
  /** With the host that was asked for. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** An internet of one loopback server that every name and address leads to. */
export interface FakeInternet {
  readonly network: EgressNetwork;
  /** What was asked of whom, in order. */
  readonly seen: SeenRequest[];
  /** Names that were resolved, and addresses that were connected to. */
  readonly resolved: string[];
  readonly connected: string[];
  /** Addresses by name, one list for each time that it is resolved; the last one stays. Others are public. */
  readonly names: Map<string, string[][]>;
  /** Port of the server on 127.0.0.1. */
  readonly port: number;
  /** Answers by `host/path`. */
  answer: RequestListener;
  close(): Promise<void>;
}

export const publicAddress = '93.184.216.34';

export async function openFakeInternet(): Promise<FakeInternet> {
  const seen: SeenRequest[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const { method = '', headers, url = '' } = request;
      seen.push({
        method,
        headers,
        url: `${headers.host ?? ''}${url}`,
        body: Buffer.concat(chunks).toString(),
      });
      internet.answer(request, response);
    });
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  const { port } = server.address() as AddressInfo;
  const names: FakeInternet['names'] = new Map();
  const internet: FakeInternet = {
    seen,
    resolved: [],
    connected: [],
    names,
    port,
    answer: (_request, response) => response.end('ok'),
    network: {
      resolve(name) {
        internet.resolved.push(name);
        const lists = names.get(name) ?? [[publicAddress]];
        return Promise.resolve((lists.length > 1 ? lists.shift() : lists[0]) ?? []);
      },
      open(addresses) {
        internet.connected.push(...addresses);
        return connect({ host: '127.0.0.1', port, allowHalfOpen: true });
      },
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
  return internet;
}

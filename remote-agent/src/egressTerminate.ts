import { Agent, createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { TLSSocket, type TLSSocketOptions } from 'node:tls';
import { established, headerBytes } from './egressRelay.ts';
import type { HostRule, Target } from './egressRules.ts';
import type { Injection } from './vault/injection.ts';
import type { JobAuthority } from './vault/jobAuthority.ts';
import { secureSocket } from './vault/secureSocket.ts';
import type { Trust } from './vault/trust.ts';

/** A tunnel to a host that values are put in for: its TLS ends here, and each request in it is looked at. */
export interface OpenedTunnel {
  readonly target: Target;
  readonly rule: HostRule;
  readonly injections: readonly Injection[];
  /** The connection to the real server, checked anew whenever one is made. */
  readonly agent: Agent;
  /**
   * Runs one request after the other: those that came together must neither overtake nor be mixed up. False, and not run,
   * where too many wait.
   */
  readonly inTurn: (work: () => Promise<void>) => boolean;
}

export interface TerminateOptions {
  readonly authority: JobAuthority;
  readonly trust: () => Trust;
  readonly handshakeMs: number;
  readonly idleMs: number;
  /** Connects to the target by the rule and its addresses. */
  readonly dial: (target: Target, rule: HostRule) => Promise<Socket>;
  readonly keep: <T extends Socket | Duplex>(socket: T) => T;
  /** Told of what is no request, with the parser's code; its connection is closed. */
  readonly onMalformed: (tunnel: OpenedTunnel, code: string) => void;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse, tunnel: OpenedTunnel) => void;
}

export interface Terminator {
  /** Takes a CONNECT over. Everything of it ends with `client`. */
  open(client: Duplex, head: Buffer, tunnel: Omit<OpenedTunnel, 'agent' | 'inTurn'>): void;
  close(): void;
}

/** Stands in for the listed hosts, under certificates that only the card of this job accepts. */
export function createTerminator(options: TerminateOptions): Terminator {
  const tunnels = new WeakMap<object, OpenedTunnel>();
  const server = createServer(
    {
      maxHeaderSize: headerBytes,
      insecureHTTPParser: false,
      requireHostHeader: false,
      headersTimeout: options.handshakeMs,
      requestTimeout: 0,
      connectionsCheckingInterval: Math.min(options.handshakeMs, 5000),
    },
    (request, response) => {
      const tunnel = tunnels.get(request.socket);
      if (tunnel) options.onRequest(request, response, tunnel);
      else request.destroy();
    },
  );
  server.timeout = options.idleMs;
  server.on('clientError', (error, client) => {
    const code = 'code' in error ? String(error.code) : '';
    const tunnel = tunnels.get(client);
    if (tunnel && code.startsWith('HPE_')) options.onMalformed(tunnel, code);
    client.destroy();
  });
  return {
    open(client, head, { target, rule, injections }) {
      if (client.destroyed || !(client instanceof Socket)) {
        client.destroy();
        return;
      }
      client.write(established);
      if (head.length > 0) client.unshift(head);
      const settings: TLSSocketOptions = {
        isServer: true,
        secureContext: options.authority.contextFor(target.host),
        ALPNProtocols: ['http/1.1', 'http/1.0'],
      };
      const inner = options.keep(new TLSSocket(client, settings));
      const timer = setTimeout(() => inner.destroy(), options.handshakeMs);
      const agent = createUpstream(options, target, rule);
      inner.once('close', () => {
        clearTimeout(timer);
        agent.destroy();
        client.destroy();
      });
      client.once('close', () => inner.destroy());
      inner.once('secure', () => {
        clearTimeout(timer);
        tunnels.set(inner, { target, rule, injections, agent, inTurn: createTurns() });
        server.emit('connection', inner);
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/** A card that sends ahead more requests than this has its connection closed: each one waiting takes memory. */
const mostWaiting = 64;

function createTurns(): OpenedTunnel['inTurn'] {
  let last = Promise.resolve();
  let waiting = 0;
  return (work) => {
    if (waiting >= mostWaiting) return false;
    waiting++;
    last = last.then(work, work).finally(() => waiting--);
    return true;
  };
}

/** Makes the connections of one tunnel: dialled by the rule, over TLS to a server that proves the target's name. */
function createUpstream(options: TerminateOptions, target: Target, rule: HostRule): Agent {
  const agent = new Agent({ keepAlive: true, maxSockets: 1, maxFreeSockets: 1 });
  const create = async (): Promise<Socket> => {
    const socket = await options.dial(target, rule);
    try {
      const secured = options.keep(
        await secureSocket(
          socket,
          target,
          { secureContext: options.trust().context },
          { timeoutMs: options.handshakeMs },
        ),
      );
      secured.setTimeout(options.idleMs, () => secured.destroy());
      return secured;
    } catch (error) {
      socket.destroy();
      throw error;
    }
  };
  agent.createConnection = (_options, settle) => {
    create().then(
      (socket) => settle?.(null, socket),
      (error: unknown) =>
        settle?.(error instanceof Error ? error : new Error(String(error)), undefined as never),
    );
    return undefined;
  };
  return agent;
}

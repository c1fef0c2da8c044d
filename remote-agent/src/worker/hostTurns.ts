import { mkdirSync } from 'node:fs';
import { createConnection, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { listenAlone, socketName } from '../served/soleSocket.ts';
import { Turnstile, type Entrance } from '../turnstile.ts';
import { Shares, type Share } from './shares.ts';

/**
 * What is said on the socket, a word in a line: a runner asks for a turn and gives one back, and says first how many
 * it holds; the worker gives. What a connection holds and asks for ends with it.
 */
const words = { ask: 'ask', leave: 'leave', turn: 'turn', hold: 'hold' } as const;
const longestLine = 32;

/** The socket of a folder from which runners get their turns. */
export function turnsSocket(folder: string): string {
  return join(folder, 'turns', socketName);
}

/**
 * Shares the turns of this machine out among the runners that connect to the folder's socket. Rejects with `conflict`
 * where somebody does so already.
 */
export async function serveTurns(folder: string, turns: number): Promise<{ close(): void }> {
  const shares = new Shares(turns);
  const sockets = new Set<Socket>();
  const path = join(folder, 'turns');
  mkdirSync(path, { recursive: true, mode: 0o700 });
  const server: Server = await listenAlone(path, (socket) => {
    sockets.add(socket);
    const share = shares.join(() => socket.write(`${words.turn}\n`));
    socket.on('error', () => undefined);
    socket.once('end', () => socket.end());
    socket.once('close', () => {
      sockets.delete(socket);
      share.end();
    });
    onLines(socket, (line) => obey(share, line));
  });
  return {
    close: () => {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

function obey(share: Share, line: string): boolean {
  if (line === words.ask) share.ask();
  else if (line === words.leave) share.leave();
  else if (/^hold [0-9]{1,4}$/.test(line)) share.hold(Number(line.slice(5)));
  else return false;
  return true;
}

/** Hands over each line; one that is not taken, or is too long, ends the connection. */
function onLines(socket: Socket, take: (line: string) => boolean): void {
  let rest = '';
  socket.setEncoding('latin1').on('data', (text: string) => {
    const lines = (rest + text).split('\n');
    rest = lines.pop() ?? '';
    if (!lines.every(take) || rest.length > longestLine) socket.destroy();
  });
}

/**
 * A runner's turns where several runners share a machine: its own number of places, and for each of them a turn of the
 * machine's. Without the one who shares out, its own places alone count: what was accepted goes on, as it does when
 * connections are lost, and the next job asks again.
 */
export class HostTurns implements Entrance {
  readonly #path: string;
  readonly #own: Turnstile;
  readonly #waiting: (() => void)[] = [];
  #socket: Socket | undefined;
  #held = 0;

  constructor(path: string, places: number) {
    this.#path = path;
    this.#own = new Turnstile(places);
  }

  async enter(signal: AbortSignal): Promise<() => void> {
    const leaveOwn = await this.#own.enter(signal);
    try {
      await this.#ask(signal);
    } catch (error) {
      leaveOwn();
      throw error;
    }
    return () => {
      this.#held -= 1;
      this.#say(words.leave);
      leaveOwn();
    };
  }

  /** Lets go of the connection. */
  close(): void {
    this.#socket?.destroy();
  }

  /** Settles with a turn, counted as held. One that comes for who waits no more is given back by `#take`. */
  #ask(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', giveUp);
        this.#held += 1;
        resolve();
      };
      const giveUp = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1);
        reject(signal.reason as Error);
      };
      signal.addEventListener('abort', giveUp, { once: true });
      this.#waiting.push(go);
      if (this.#socket) this.#say(words.ask);
      else this.#connect();
    });
  }

  #connect(): void {
    const socket = createConnection(this.#path);
    this.#socket = socket;
    socket.unref();
    // What is written before it is connected is sent then.
    this.#say(`${words.hold} ${this.#held}`);
    for (let count = this.#waiting.length; count > 0; count -= 1) this.#say(words.ask);
    socket.on('error', () => undefined);
    socket.once('close', () => {
      this.#socket = undefined;
      for (const go of this.#waiting.splice(0)) go();
    });
    onLines(socket, (line) => {
      if (line === words.turn) this.#take();
      return line === words.turn;
    });
  }

  #take(): void {
    const go = this.#waiting.shift();
    if (go) go();
    else this.#say(words.leave);
  }

  #say(word: string): void {
    this.#socket?.write(`${word}\n`);
  }
}

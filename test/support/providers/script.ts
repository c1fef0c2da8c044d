import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One call as a scripted model writes it. A string is sent as it stands, JSON or not. */
export interface ScriptedCall {
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

/** What a provider answers to one request. */
export interface ScriptedTurn {
  /** Pieces of text, each one event. */
  readonly text?: readonly string[];
  readonly calls?: readonly ScriptedCall[];
  /** `length`: the answer ended at the output limit. */
  readonly finish?: 'stop' | 'length';
  readonly usage?: { readonly input: number; readonly output: number };
  /** A status that is not 200, with its body. */
  readonly failure?: {
    readonly status: number;
    readonly body?: string;
    readonly headers?: Readonly<Record<string, string>>;
  };
  /** A proxy's page with status 200. */
  readonly page?: boolean;
  /** Ends in the middle, after the text and calls: the connection breaks, or it ends as if all were well. */
  readonly cut?: 'reset' | 'end';
  /** An error event in the middle of the stream, in the format's own shape. */
  readonly streamError?: { readonly type: string; readonly message: string };
  /** Nothing is sent until this resolves. */
  readonly holdFirst?: Promise<unknown>;
  /** Text is sent; calls and the end wait until this resolves. */
  readonly holdEnd?: Promise<unknown>;
}

/** One of the four wire formats, as a server speaks it. */
export interface WireFormat {
  /** Below the saved address. */
  readonly path: string;
  readonly contentType: string;
  /** The stream's beginning with its text; then calls; then its end. */
  begin(turn: ScriptedTurn, number: number): string[];
  calls(turn: ScriptedTurn, number: number): string[];
  end(turn: ScriptedTurn, number: number): string[];
  error(error: { readonly type: string; readonly message: string }): string[];
  /** The body of a status that is not 200. */
  failure(status: number, message: string): string;
}

export interface SeenRequest {
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: Readonly<Record<string, unknown>>;
  readonly text: string;
}

/** The next turn, from what has been seen; undefined where the script is over, which fails the request with 500. */
export type Script = (seen: readonly SeenRequest[]) => ScriptedTurn | undefined;

/** A provider on loopback that answers from a script, in one wire format. */
export class ProviderServer {
  readonly seen: SeenRequest[] = [];
  /** Requests for the list of models; they are no turn of the script. */
  readonly listed: SeenRequest[] = [];
  /** Streams that the other end closed before their end. */
  cancelled = 0;
  readonly #server: Server;
  readonly #format: WireFormat;
  readonly #script: Script;

  constructor(format: WireFormat, script: Script | readonly ScriptedTurn[]) {
    this.#format = format;
    this.#script = typeof script === 'function' ? script : (seen) => script[seen.length - 1];
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch((error: unknown) => response.destroy(error as Error));
    });
  }

  /** Listens on a free port; resolves with the address that a connection would save. */
  async start(prefix = ''): Promise<string> {
    await new Promise<void>((done) => this.#server.listen(0, '127.0.0.1', done));
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}${prefix}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise<void>((done) => this.#server.close(() => done()));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const text = Buffer.concat(chunks).toString('utf8');
    const seen = {
      path: request.url ?? '',
      headers: request.headers,
      body: (text === '' ? {} : JSON.parse(text)) as Record<string, unknown>,
      text,
    };
    if (request.method === 'GET') {
      this.listed.push(seen);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(modelList);
      return;
    }
    this.seen.push(seen);
    const number = this.seen.length;
    const turn = this.#script(this.seen);
    let isOver = false;
    response.on('close', () => {
      if (!isOver) this.cancelled++;
    });
    const end = () => {
      isOver = true;
      response.end();
    };
    if (!turn) {
      response.writeHead(500, { 'content-type': 'application/json' });
      response.write(this.#format.failure(500, `The script has no turn ${number}`));
      end();
      return;
    }
    await turn.holdFirst;
    if (turn.page) {
      response.writeHead(200, { 'content-type': 'text/html; charset=utf-8' });
      response.write('<!doctype html><title>Sign in</title><p>Your network asks you to sign in.</p>');
      end();
      return;
    }
    if (turn.failure) {
      const { status, body, headers } = turn.failure;
      response.writeHead(status, { 'content-type': 'application/json', ...headers });
      response.write(body ?? this.#format.failure(status, `Status ${status}`));
      end();
      return;
    }
    response.writeHead(200, { 'content-type': this.#format.contentType });
    for (const each of this.#format.begin(turn, number)) response.write(each);
    await turn.holdEnd;
    if (response.destroyed) return;
    for (const each of this.#format.calls(turn, number)) response.write(each);
    if (turn.streamError) for (const each of this.#format.error(turn.streamError)) response.write(each);
    if (turn.cut === 'reset') {
      isOver = true;
      await new Promise<void>((done) => response.write('', () => done()));
      response.destroy();
      return;
    }
    if (turn.cut === undefined && !turn.streamError)
      for (const each of this.#format.end(turn, number)) response.write(each);
    end();
  }
}

/** One model, listed as OpenAI, Anthropic and Ollama do. */
const modelList = JSON.stringify({
  object: 'list',
  data: [{ id: 'scripted', object: 'model', display_name: 'Scripted', type: 'model' }],
  models: [{ name: 'scripted' }],
});

/** Arguments as text, as a model streams them. */
export function argumentText({ args }: ScriptedCall): string {
  return typeof args === 'string' ? args : JSON.stringify(args);
}

export function callId({ id }: ScriptedCall, number: number, index: number): string {
  return id ?? `call_${number}_${index}`;
}

export function usageOf({ usage }: ScriptedTurn): { input: number; output: number } {
  return usage ?? { input: 100, output: 20 };
}

/** A server-sent event (WHATWG HTML §9.2). */
export function event(data: unknown, name?: string): string {
  return `${name === undefined ? '' : `event: ${name}\n`}data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`;
}

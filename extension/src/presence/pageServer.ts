import { randomBytes } from 'node:crypto';
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { listenOnLoopback, type Loopback } from './loopback.ts';
import { presenceHeaders } from './presencePage.ts';

/** What the page is told after its answer was judged. */
export interface Verdict {
  readonly ok: boolean;
  /** Why not, in words. */
  readonly text: string;
}

export interface PageServerOptions {
  /** The document; called once. */
  readonly html: (nonce: string) => Promise<string>;
  /** Judges the one answer that is taken. */
  readonly judge: (body: unknown, origin: string) => Promise<Verdict>;
  /** The address at which the person's browser finds a local one (`vscode.env.asExternalUri`). */
  readonly external: (uri: string) => Promise<string>;
  readonly listen?: (handle: RequestListener) => Promise<Loopback>;
}

export interface PageServer {
  /** What the browser opens. Its path can't be guessed and serves the page once. */
  readonly uri: string;
  /** Scheme, host and port as the browser will say them. */
  readonly origin: string;
  /** Settles with the one verdict, once the browser has it. */
  readonly answered: Promise<Verdict>;
  close(): void;
}

const largestAnswer = 64 * 1024;

/**
 * Serves one page to one browser and takes one answer from it. Everything else is refused: another `Host` (a name that
 * was pointed here), another `Origin`, another path, a second reader, a second answer. Resolves with undefined where the
 * person's browser reaches this machine under no `http://localhost` address: passkeys would belong to another name.
 */
export async function openPageServer(options: PageServerOptions): Promise<PageServer | undefined> {
  const path = `/${randomBytes(24).toString('base64url')}`;
  let place: { readonly origin: string; readonly host: string } | undefined;
  let isServed = false;
  let isAnswered = false;
  const answered = Promise.withResolvers<Verdict>();

  const servePage = async (response: ServerResponse): Promise<void> => {
    isServed = true;
    const nonce = randomBytes(18).toString('base64url');
    const html = await options.html(nonce);
    response.writeHead(200, { ...presenceHeaders(nonce), 'content-type': 'text/html; charset=utf-8' });
    response.end(html);
  };
  const takeAnswer = async (request: IncomingMessage, response: ServerResponse, origin: string) => {
    const text = await readBody(request);
    if (text === undefined || isAnswered) {
      refuse(response, text === undefined ? 413 : 409);
      return;
    }
    isAnswered = true;
    const verdict = await options.judge(parse(text), origin);
    response.writeHead(200, { ...presenceHeaders('none'), 'content-type': 'application/json' });
    response.once('close', () => answered.resolve(verdict));
    response.end(JSON.stringify(verdict));
  };
  const handle = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const isPage = request.method === 'GET' && request.url === path;
    const isAnswer = request.method === 'POST' && request.url === `${path}/answer`;
    if (!place || request.headers.host !== place.host) refuse(response, 421);
    else if (isPage && !isServed) await servePage(response);
    else if (isPage) refuse(response, 410);
    else if (!isAnswer) refuse(response, 404);
    else if (request.headers.origin !== place.origin || !isFromSamePage(request)) refuse(response, 403);
    else if (request.headers['content-type'] !== 'application/json') refuse(response, 415);
    else if (!isServed || isAnswered) refuse(response, 409);
    else await takeAnswer(request, response, place.origin);
  };

  const server = await (options.listen ?? listenOnLoopback)((request, response) => {
    handle(request, response).catch(() => {
      if (response.headersSent) response.destroy();
      else refuse(response, 500);
    });
  });
  try {
    const external = localhostAddress(await options.external(`http://localhost:${server.port}${path}`));
    if (external?.pathname === path) {
      place = { origin: external.origin, host: external.host };
      return {
        uri: external.href,
        origin: external.origin,
        answered: answered.promise,
        close: () => server.close(),
      };
    }
  } catch (error) {
    server.close();
    throw error;
  }
  server.close();
  return undefined;
}

/** The address where it is plain `http` to this machine. A tunnel may say 127.0.0.1, where no passkey can be used. */
function localhostAddress(uri: string): URL | undefined {
  if (!URL.canParse(uri)) return undefined;
  const url = new URL(uri);
  if (url.protocol !== 'http:' || url.port === '') return undefined;
  if (url.hostname === '127.0.0.1') url.hostname = 'localhost';
  return url.hostname === 'localhost' ? url : undefined;
}

/** Browsers say where a request came from (Fetch Metadata); one that says nothing is judged by `Origin` alone. */
function isFromSamePage({ headers }: IncomingMessage): boolean {
  const site = headers['sec-fetch-site'];
  return site === undefined || site === 'same-origin';
}

/** Undefined where it is larger than an answer can be; what comes is thrown away. */
async function readBody(request: IncomingMessage): Promise<string | undefined> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of request as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size <= largestAnswer) chunks.push(chunk);
  }
  return size > largestAnswer ? undefined : Buffer.concat(chunks).toString('utf8');
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function refuse(response: ServerResponse, status: number): void {
  response.writeHead(status, { ...presenceHeaders('none'), connection: 'close' });
  response.end();
}

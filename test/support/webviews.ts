import { build } from 'esbuild';
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import {
  isRelay,
  shellHtml,
  type RelayKind,
  type ShellKind,
  type ShellOptions,
} from '../../extension/src/panels/shellHtml.ts';

const outdir = path.resolve('out/test-webviews');
let built: Promise<void> | undefined;

/** Builds the webviews once for this process, exactly as `npm run build` does, into a folder of the tests' own. */
export function buildWebviews(): Promise<void> {
  built ??= (async () => {
    const script: unknown = await import(new URL('../../scripts/build.mjs', import.meta.url).href);
    const { targets } = script as { targets: (Parameters<typeof build>[0] & { entryPoints: object })[] };
    const webviews = targets.filter((target) => Object.keys(target.entryPoints)[0]?.startsWith('webviews/'));
    await Promise.all(webviews.map((target) => build({ ...target, outdir, sourcemap: false })));
  })();
  return built;
}

/** A file of the built webviews: `view.js`, `canvas.css`, … */
export function webviewFile(name: string): Promise<string> {
  return readFile(path.join(outdir, 'webviews', name), 'utf8');
}

export interface Listening {
  readonly origin: string;
  readonly close: () => Promise<void>;
}

/** A loopback server for one handler. */
export async function listen(
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening & { server: Server; port: number }> {
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    port,
    origin: `http://127.0.0.1:${port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}

/** Serves the real shell documents with the real bundles, as the webview's resource server does. */
export async function serveShells(): Promise<Listening & { readonly shellUrl: (kind: ShellKind) => string }> {
  await buildWebviews();
  const frameScript = await webviewFile('view.js');
  const relays = { page: await webviewFile('page.js'), appHost: await webviewFile('appHost.js') };
  const own = await listen((request, response) => {
    const url = new URL(request.url ?? '/', own.origin);
    const kind = /^\/shell\/(canvas|workbench|run|page|appHost)$/.exec(url.pathname)?.[1] as
      ShellKind | undefined;
    if (kind) {
      response.setHeader('content-type', 'text/html; charset=utf-8');
      response.end(shellHtml(shellOptions(kind, own.origin, frameScript, relays)));
      return;
    }
    readFile(path.join(outdir, 'webviews', path.basename(url.pathname))).then(
      (bytes) => {
        response.setHeader('content-type', contentType(url.pathname));
        response.end(bytes);
      },
      () => response.writeHead(404).end(),
    );
  });
  return { origin: own.origin, close: own.close, shellUrl: (kind) => `${own.origin}/shell/${kind}` };
}

export function shellOptions(
  kind: ShellKind,
  origin: string,
  frameScript: string,
  relays: Readonly<Record<RelayKind, string>>,
): ShellOptions {
  return {
    kind,
    title: 'Sallyport',
    cspSource: origin,
    script: isRelay(kind) ? relays[kind] : `${origin}/${kind}.js`,
    styleUri: `${origin}/${kind}.css`,
    scriptNonce: 'c2NyaXB0bm9uY2Vmb3J0ZXN0cw',
    styleNonce: 'c3R5bGVub25jZWZvcnRlc3Rz',
    frameScriptHash: createHash('sha256').update(frameScript).digest('base64'),
  };
}

function contentType(file: string): string {
  if (file.endsWith('.js')) return 'text/javascript; charset=utf-8';
  if (file.endsWith('.css')) return 'text/css; charset=utf-8';
  return 'application/octet-stream';
}

import { timingSafeEqual, randomBytes } from 'node:crypto';
import { renameSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { steps } from './steps.ts';

/**
 * Runs as the test of an extension host and never ends: answers named steps over loopback HTTP to whoever knows the
 * token, which it leaves in the file that `SALLYPORT_TEST_BRIDGE` names. The page's end is its end.
 */
export async function run(): Promise<void> {
  const file = process.env['SALLYPORT_TEST_BRIDGE'];
  if (file === undefined) throw new Error('SALLYPORT_TEST_BRIDGE names no file');
  const token = randomBytes(32).toString('hex');
  const server = createServer((request, response) => void answer(request, response, token));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  writeFileSync(`${file}.partial`, JSON.stringify({ port, token }), { mode: 0o600 });
  renameSync(`${file}.partial`, file);
  await new Promise(() => undefined);
}

async function answer(request: IncomingMessage, response: ServerResponse, token: string): Promise<void> {
  const given = Buffer.from(request.headers.authorization ?? '');
  const wanted = Buffer.from(`Bearer ${token}`);
  if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) {
    response.writeHead(403).end();
    return;
  }
  let body = '';
  for await (const chunk of request) body += String(chunk);
  const { step, args } = JSON.parse(body) as { step: string; args: never };
  try {
    if (!Object.hasOwn(steps, step)) throw new Error(`There is no step ${step}`);
    const value: unknown = await steps[step as keyof typeof steps](args);
    response.end(JSON.stringify({ value: value ?? null }));
  } catch (error) {
    response.end(
      JSON.stringify({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  }
}

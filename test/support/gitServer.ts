import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:https';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';

/** A git server over https on 127.0.0.1 (git-http-backend(1)), with a certificate that only its tests trust. */
export interface GitServer {
  /** `https://127.0.0.1:PORT`. */
  readonly base: string;
  /** What git must be given to trust it. */
  readonly environment: Readonly<Record<string, string>>;
  /** Paths that were asked for. */
  readonly seen: string[];
  /** Answers instead of git where it returns true. */
  intercept: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  close(): Promise<void>;
}

/** Serves the bare repositories below `folder/repositories`. The certificate is made in `folder`. */
export async function openGitServer(folder: string): Promise<GitServer> {
  const { key, cert, path } = makeCertificate(folder);
  const children = new Set<ChildProcess>();
  const git: GitServer = {
    base: '',
    environment: { GIT_SSL_CAINFO: path },
    seen: [],
    intercept: undefined,
    close: async () => {
      for (const child of children) child.kill('SIGKILL');
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
  const server: Server = createServer({ key, cert }, (request, response) => {
    git.seen.push(request.url ?? '');
    if (git.intercept?.(request, response)) return;
    const child = answer(join(folder, 'repositories'), request, response);
    children.add(child);
    child.once('close', () => children.delete(child));
  });
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  return Object.assign(git, { base: `https://127.0.0.1:${(server.address() as AddressInfo).port}` });
}

export interface RepositoryEntry {
  readonly path: string;
  readonly content: string;
  /** `100644` where it is not named. */
  readonly mode?: string;
}

/**
 * Makes a bare repository below `folder/repositories` with one commit of these entries, written straight into git's
 * store, so that it may hold what no checkout would. Returns the commit.
 */
export function makeRepository(folder: string, name: string, entries: readonly RepositoryEntry[]): string {
  const repository = join(folder, 'repositories', name);
  mkdirSync(repository, { recursive: true });
  const git = (args: readonly string[], input = '') =>
    execFileSync('git', ['-C', repository, ...args], { input, env: gitIdentity, encoding: 'utf8' }).trim();
  if (!existsSync(join(repository, 'HEAD'))) git(['init', '--quiet', '--bare', '--initial-branch=main', '.']);
  git(['config', 'http.getanyfile', 'true']);
  const index = { ...gitIdentity, GIT_INDEX_FILE: join(repository, `index-${Date.now()}-${Math.random()}`) };
  const lines = entries.map(({ path, content, mode = '100644' }) => {
    const id = mode === '160000' ? content : git(['hash-object', '-w', '--stdin'], content);
    return `${mode} ${id}\t${path}\0`;
  });
  execFileSync('git', ['-C', repository, 'update-index', '-z', '--index-info'], {
    input: lines.join(''),
    env: index,
  });
  const tree = execFileSync('git', ['-C', repository, 'write-tree', '--missing-ok'], {
    env: index,
    encoding: 'utf8',
  }).trim();
  const commit = git(['commit-tree', tree, '-m', 'a version']);
  git(['update-ref', 'refs/heads/main', commit]);
  return commit;
}

/** The same for a tree that git itself would not write: raw entries, one level. */
export function makeRawRepository(
  folder: string,
  name: string,
  entries: readonly { readonly name: string; readonly mode: string; readonly content: string }[],
): string {
  makeRepository(folder, name, []);
  const repository = join(folder, 'repositories', name);
  const git = (args: readonly string[], input: string | Buffer = '') =>
    execFileSync('git', ['-C', repository, ...args], { input, env: gitIdentity, encoding: 'utf8' }).trim();
  const parts = entries.map((entry) => {
    const id = git(['hash-object', '-w', '--stdin'], entry.content);
    return Buffer.concat([Buffer.from(`${entry.mode} ${entry.name}\0`), Buffer.from(id, 'hex')]);
  });
  const tree = git(['hash-object', '-w', '-t', 'tree', '--literally', '--stdin'], Buffer.concat(parts));
  const commit = git(['commit-tree', tree, '-m', 'a version']);
  git(['update-ref', 'refs/heads/main', commit]);
  return commit;
}

const gitIdentity: NodeJS.ProcessEnv = {
  PATH: process.env['PATH'] ?? '',
  HOME: '/nonexistent',
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_AUTHOR_NAME: 'a',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'a',
  GIT_COMMITTER_EMAIL: 'a@example.org',
  GIT_AUTHOR_DATE: '2026-01-01T00:00:00Z',
  GIT_COMMITTER_DATE: '2026-01-01T00:00:00Z',
};

let made: { readonly key: Buffer; readonly cert: Buffer } | undefined;

/** One certificate for a process; its public part is written into `folder`, for git. */
function makeCertificate(folder: string): { key: Buffer; cert: Buffer; path: string } {
  const key = join(folder, 'key.pem');
  const path = join(folder, 'cert.pem');
  if (!made) {
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'],
        ...['-days', '2', '-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'],
        ...['-keyout', key, '-out', path],
      ],
      { stdio: 'ignore' },
    );
    made = { key: readFileSync(key), cert: readFileSync(path) };
  }
  writeFileSync(path, made.cert);
  return { ...made, path };
}

/** One request through git's own CGI program (RFC 3875). */
function answer(root: string, request: IncomingMessage, response: ServerResponse): ChildProcess {
  const url = new URL(request.url ?? '/', 'https://127.0.0.1');
  const child = spawn('git', ['http-backend'], {
    env: {
      ...gitIdentity,
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: '1',
      PATH_INFO: url.pathname,
      QUERY_STRING: url.search.slice(1),
      REQUEST_METHOD: request.method,
      CONTENT_TYPE: request.headers['content-type'] ?? '',
      HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
      GIT_PROTOCOL: request.headers['git-protocol']?.toString() ?? '',
      // Our repositories may belong to whoever runs the tests.
      GIT_CONFIG_COUNT: '2',
      GIT_CONFIG_KEY_0: 'safe.directory',
      GIT_CONFIG_VALUE_0: '*',
      GIT_CONFIG_KEY_1: 'uploadpack.allowReachableSHA1InWant',
      GIT_CONFIG_VALUE_1: 'true',
    },
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  child.stdin.on('error', () => undefined);
  request.pipe(child.stdin);
  let head = Buffer.alloc(0);
  let isBody = false;
  child.stdout.on('data', (chunk: Buffer) => {
    if (isBody) return void response.write(chunk);
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf('\r\n\r\n');
    if (end < 0) return;
    isBody = true;
    for (const line of head.toString('latin1', 0, end).split('\r\n')) {
      const [name = '', value = ''] = line.split(/: (.*)/s);
      if (name.toLowerCase() === 'status') response.statusCode = Number.parseInt(value, 10);
      else response.setHeader(name, value);
    }
    response.write(head.subarray(end + 4));
  });
  child.once('close', () => response.end());
  return child;
}

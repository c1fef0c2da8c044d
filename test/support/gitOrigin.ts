import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Answer } from './secureOrigin.ts';

const plainGit = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', HOME: '/nonexistent' };

/** A bare repository `folder/notes.git` with one commit of `notes.txt`, which can be pushed to. */
export function createRepository(folder: string): void {
  const work = join(folder, 'work');
  mkdirSync(work, { recursive: true });
  const git = (...words: string[]) =>
    execFileSync('git', words, { cwd: work, env: { ...process.env, ...plainGit }, stdio: 'pipe' });
  git('init', '-q', '-b', 'main');
  writeFileSync(join(work, 'notes.txt'), 'first\n');
  git('add', '.');
  git('-c', 'user.name=t', '-c', 'user.email=t@example.org', 'commit', '-qm', 'first');
  git('clone', '-q', '--bare', work, join(folder, 'notes.git'));
  git('-C', join(folder, 'notes.git'), 'config', 'http.receivepack', 'true');
}

/** The log of the repository, newest first. */
export function repositoryLog(folder: string): string[] {
  const text = execFileSync('git', ['-C', join(folder, 'notes.git'), 'log', '--format=%s', 'main'], {
    env: { ...process.env, ...plainGit },
    encoding: 'utf8',
  });
  return text.trim().split('\n');
}

/** Serves the repositories of `folder` by git's own program (git-http-backend(1)), to whoever knows `authorization`. */
export function serveGit(folder: string, authorization: string): Answer {
  return (request, response, body) => {
    if (request.headers.authorization !== authorization) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="git"' }).end('no');
      return;
    }
    const [path = '', query = ''] = (request.url ?? '').split('?');
    const child = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env['PATH'],
        ...plainGit,
        GIT_PROJECT_ROOT: folder,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: path,
        QUERY_STRING: query,
        REQUEST_METHOD: request.method,
        CONTENT_TYPE: request.headers['content-type'] ?? '',
        HTTP_CONTENT_ENCODING: request.headers['content-encoding'] ?? '',
        REMOTE_USER: 'git',
      },
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    const parts: Buffer[] = [];
    child.stdout.on('data', (part: Buffer) => parts.push(part));
    child.once('close', () => {
      const all = Buffer.concat(parts);
      const at = all.indexOf('\r\n\r\n');
      const headers = all
        .subarray(0, at)
        .toString('latin1')
        .split('\r\n')
        .map((line) => line.split(': '));
      const status = headers.find(([name]) => name === 'Status')?.[1] ?? '200';
      response.writeHead(Number.parseInt(status, 10), headers.filter(([name]) => name !== 'Status').flat());
      response.end(all.subarray(at + 4));
    });
    child.stdin.end(Buffer.from(body, 'latin1'));
  };
}

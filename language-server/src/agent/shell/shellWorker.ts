import { parentPort, workerData, type MessagePort } from 'node:worker_threads';
import { Bash, type CommandName } from 'just-bash';
import { createOverlay, projectMount } from './overlayFs.ts';
import { createProjectView } from './projectView.ts';
import type { ShellFetch, ShellFetchAnswer, ShellMessage, ShellReply, ShellTask } from './shellMessages.ts';

/** The commands of the shell. Each of them is code of this bundle: no program is ever started. */
const commands =
  'echo cat printf ls mkdir rmdir touch rm cp mv ln chmod pwd readlink head tail wc stat grep fgrep egrep rg sed awk sort uniq comm cut paste tr rev nl fold expand unexpand strings split column join tee find basename dirname tree du env printenv alias unalias xargs true false bash sh jq base64 diff date sleep timeout seq expr md5sum sha1sum sha256sum file help which tac hostname od gzip gunzip zcat tar yq xan time whoami'.split(
    ' ',
  ) as CommandName[];

/**
 * The hardened profile bounds memory, and counts so tightly that a file of 10,000 lines is too long. Counting is about
 * time, and time is kept by the engine, which ends this thread.
 */
const roomForRealFiles = {
  maxCommandCount: 100_000,
  maxLoopIterations: 1_000_000,
  maxAwkIterations: 1_000_000,
  maxSedIterations: 1_000_000,
  maxJqIterations: 1_000_000,
  maxWorkUnits: 10_000_000,
  maxArrayElements: 1_000_000,
  maxTraversalWork: 1_000_000,
};

if (!parentPort) throw new TypeError('The shell runs in a worker thread');
await runShell(workerData as ShellTask, parentPort);

async function runShell(task: ShellTask, port: MessagePort): Promise<void> {
  const { limits } = task;
  const view = createProjectView(task.root, {
    fileBytes: limits.fileBytes,
    entries: limits.entriesPerFolder,
  });
  const overlay = createOverlay(view, limits.totalBytes);
  const send = (message: ShellMessage) => port.postMessage(message);
  try {
    const bash = new Bash({
      fs: overlay.fs,
      cwd: projectMount,
      env: { HOME: '/home/shell', USER: 'shell', TMPDIR: '/tmp', LANG: 'C.UTF-8' },
      commands,
      executionLimitProfile: 'hardened',
      executionLimits: {
        ...roomForRealFiles,
        // The engine ends the thread first: a time-out has no exit status that could be taken for the command's own.
        maxExecutionTimeMs: limits.seconds * 1000 + 10_000,
        maxFileSystemBytes: limits.totalBytes,
        maxSourceBytes: 256 * 1024,
      },
      defenseInDepth: true,
      python: false,
      javascript: false,
      processInfo: { pid: 1, ppid: 0, uid: 1000, gid: 1000 },
      ...(task.hasInternet ? { fetch: createFetch(port, send) } : {}),
    });
    const result = await bash.exec(task.command, { stdin: '', rawScript: true });
    const { files, links } = await overlay.changes();
    const stdout = cut(result.stdout, limits.outputBytes);
    const stderr = cut(result.stderr, limits.outputBytes);
    send({
      kind: 'end',
      exitCode: result.exitCode,
      stdout: stdout.text,
      stderr: stderr.text,
      cutStdout: stdout.left,
      cutStderr: stderr.left,
      files,
      links,
    });
  } catch (error) {
    send({ kind: 'fault', message: error instanceof Error ? error.message : String(error) });
  } finally {
    port.close();
  }
}

type SecureFetch = NonNullable<NonNullable<ConstructorParameters<typeof Bash>[0]>['fetch']>;

/** Every request goes to the engine, which checks the address and keeps the log. Redirects come back as they are. */
function createFetch(port: MessagePort, send: (message: ShellMessage) => void): SecureFetch {
  const waiting = new Map<number, (reply: ShellReply) => void>();
  let last = 0;
  port.on('message', (reply: ShellReply) => {
    waiting.get(reply.id)?.(reply);
    waiting.delete(reply.id);
  });
  return async (url, options = {}) => {
    const id = ++last;
    const request: ShellFetch = {
      url,
      method: options.method ?? 'GET',
      headers: Object.fromEntries(new Headers(options.headers ?? {}).entries()),
      body: options.body,
    };
    const answered = new Promise<ShellFetchAnswer>((resolve, reject) => {
      waiting.set(id, (reply) =>
        'answer' in reply ? resolve(reply.answer) : reject(new Error(reply.refused)),
      );
    });
    send({ kind: 'fetch', id, request });
    return { ...(await answered), url };
  };
}

function cut(text: string, limit: number): { text: string; left: number } {
  if (text.length <= limit) return { text, left: 0 };
  const half = Math.floor(limit / 2);
  const left = text.length - 2 * half;
  return {
    text: `${text.slice(0, half).toWellFormed()}\n[… ${left} characters left out …]\n${text.slice(-half).toWellFormed()}`,
    left,
  };
}

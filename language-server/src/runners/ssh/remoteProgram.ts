import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import * as z from 'zod/mini';
import { showHidden } from '../../../../protocol/src/text.ts';
import { createSentinel, readToSentinel } from './sentinel.ts';
import type { SshConnection } from './sshConnection.ts';

/** The runner as it is on the other host, ready to be talked to. */
export interface RemoteProgram {
  /** The Unix socket of the runner that serves. */
  readonly socket: string;
  /** A command line that joins its standard input and output to the runner, after the sentinel's line. */
  readonly joinCommand: (kind: 'control' | 'bulk', sentinel: string) => string;
}

export interface RemoteProgramOptions {
  readonly connection: SshConnection;
  /** The runner's file here. */
  readonly program: string;
  /** The folder over there, below the person's home folder. */
  readonly folder: string;
  readonly onStep: (step: string) => void;
}

/** The oldest Node that the runner runs on. */
const oldestNode = [20, 12] as const;

/** Where Node is looked for when the PATH has none that is new enough. VS Code's server brings one. */
const nodePlaces = [
  '$HOME/.vscode-server/cli/servers/*/server/node',
  '$HOME/.vscode-server/bin/*/node',
  '$HOME/.vscode-server-insiders/cli/servers/*/server/node',
  '$HOME/.local/share/code-server/lib/node',
  '$HOME/.nvm/versions/node/*/bin/node',
  '$HOME/.local/share/fnm/node-versions/*/installation/bin/node',
  '$HOME/.volta/bin/node',
  '$HOME/.local/bin/node',
  '/usr/local/bin/node',
  '/usr/bin/node',
  '/opt/node/bin/node',
];

const facts = z.strictObject({ node: z.string(), version: z.string(), home: z.string(), digest: z.string() });
const served = z.object({ socket: z.string() });
/** What stands in a command line between single quotes, whatever shell reads it. */
const plainPath = /^\/[A-Za-z0-9_./@%+=:, -]*$/;

/** The runner's file on the other host, and what runs it: absolute paths that any shell takes between single quotes. */
export interface InstalledProgram {
  readonly node: string;
  readonly file: string;
  /** The folder that was asked for. */
  readonly home: string;
}

/**
 * Brings the runner to the other host where it is not there: one file in the person's home folder, 0700, its content
 * checked against its digest at every start, and started where none serves. Throws as `installProgram` does.
 */
export async function prepareProgram(options: RemoteProgramOptions): Promise<RemoteProgram> {
  const { connection, onStep } = options;
  const { node, file, home } = await installProgram(options);
  onStep('Starting the runner there');
  const sentinel = createSentinel();
  const start = await connection.exec(joinWords(node, file, 'ensure', home, sentinel));
  start.stream.end();
  const line = await readToSentinel(start, sentinel).catch(async (error: unknown) => {
    // Of a program that has ended, all that it said is waited for; another one may never end.
    if (start.stream.readableEnded || start.stream.destroyed) await start.ended;
    throw /disk is full|ENOSPC/.test(start.errors()) ? diskFull(start.errors()) : error;
  });
  start.stream.resume();
  await start.ended;
  const { socket } = parse(served, line);
  return { socket, joinCommand: (kind, mark) => joinWords(node, file, kind, home, mark) };
}

/**
 * The same without starting it. Throws `interpreter-missing` where no Node is found, `disk-full`, `unsafe-path`,
 * `incompatible`, each in words.
 */
export async function installProgram(options: RemoteProgramOptions): Promise<InstalledProgram> {
  const { connection, program, folder, onStep } = options;
  const bytes = readFileSync(program);
  const digest = hash('sha256', bytes);
  onStep('Looking for Node there');
  const found = await look(connection, folder, digest);
  const home = `${found.home}/${folder}`;
  for (const path of [found.node, home]) {
    if (!plainPath.test(path))
      throw new UserError(
        'unsafe-path',
        `The path ${showHidden(path)} over there has characters that no shell is told`,
      );
  }
  const file = `${home}/runner-${digest}.cjs`;
  if (found.digest !== digest) {
    onStep('Copying the runner');
    await upload(connection, found.node, file, digest, bytes);
  }
  return { node: found.node, file, home };
}

async function look(
  connection: SshConnection,
  folder: string,
  digest: string,
): Promise<z.infer<typeof facts>> {
  const sentinel = createSentinel();
  // On standard input, so that no login shell, of whatever kind, reads the lines itself.
  const started = await connection.exec('exec /bin/sh -s');
  const { stream, ended } = started;
  stream.end(lookScript(folder, digest, sentinel));
  const line = await readToSentinel(started, sentinel);
  stream.resume();
  await ended;
  if (line.startsWith('none')) {
    throw new UserError(
      'interpreter-missing',
      `There is no Node.js ${oldestNode.join('.')} or later over there (found: ${showHidden(line.slice(4).trim()) || 'none'})`,
      {
        remedy:
          'Install Node.js there, for example from its distribution, or open the host once with VS Code’s Remote-SSH, which brings one.',
      },
    );
  }
  return parse(facts, line);
}

/** For a POSIX shell. Says one line: the facts as JSON, or `none` and the versions that were too old. */
function lookScript(folder: string, digest: string, sentinel: string): string {
  const [major, minor] = oldestNode;
  const test = `var v=process.versions.node.split(".").map(Number);process.exit(v[0]>${major}||v[0]===${major}&&v[1]>=${minor}?0:1)`;
  const tell = [
    'var fs=require("fs"),c=require("crypto"),a=process.argv,d="";',
    'try{d=c.createHash("sha256").update(fs.readFileSync(a[1])).digest("hex")}catch(e){}',
    'process.stdout.write("\\n"+a[2]+" "+JSON.stringify({node:process.execPath,version:process.version,home:fs.realpathSync(process.env.HOME),digest:d})+"\\n")',
  ].join('');
  return [
    'umask 077',
    'old=',
    `for node in "$(command -v node 2>/dev/null)" ${nodePlaces.map((place) => place.replaceAll(' ', '\\ ')).join(' ')}; do`,
    '  [ -n "$node" ] && [ -x "$node" ] || continue',
    `  if "$node" -e '${test}' </dev/null >/dev/null 2>&1; then`,
    `    mkdir -p -m 700 "$HOME/${folder}" && chmod 700 "$HOME/${folder}" || exit 1`,
    `    exec "$node" -e '${tell}' "$HOME/${folder}/runner-${digest}.cjs" '${sentinel}' </dev/null`,
    '  fi',
    '  old="$old $("$node" --version </dev/null 2>/dev/null | head -c 40)"',
    'done',
    `printf '\\n%s none%s\\n' '${sentinel}' "$old"`,
    '',
  ].join('\n');
}

/** Receives standard input into a file that takes its name only when its digest is right. Words are set by this file. */
const receiveProgram = [
  'var fs=require("fs"),c=require("crypto"),a=process.argv,t=a[1]+"."+process.pid,s=c.createHash("sha256"),n=0;',
  'var f=fs.openSync(t,"wx",448);process.stdout.write("\\n"+a[3]+" ready\\n");',
  'function fail(e){try{fs.unlinkSync(t)}catch(x){}process.stdout.write("\\n"+a[3]+" failed "+(e.code||e.message)+"\\n");process.exit(1)}',
  'process.stdin.on("data",function(b){try{s.update(b);for(var i=0;i<b.length;)i+=fs.writeSync(f,b,i)}catch(e){fail(e)}});',
  'process.stdin.on("end",function(){try{if(s.digest("hex")===a[2]){fs.fsyncSync(f);fs.closeSync(f);fs.renameSync(t,a[1]);process.stdout.write("\\n"+a[3]+" stored\\n")}else fail({code:"other bytes came"})}catch(e){fail(e)}});',
].join('');

async function upload(
  connection: SshConnection,
  node: string,
  file: string,
  digest: string,
  bytes: Uint8Array,
): Promise<void> {
  const sentinel = createSentinel();
  const command = `exec '${node}' -e '${receiveProgram}' '${file}' ${digest} ${sentinel}`;
  const started = await connection.exec(command);
  const { stream, ended } = started;
  // Another shell in the place of ours would take the bytes for commands: they go to who answers.
  const first = await readToSentinel(started, sentinel, readyMs);
  if (first === 'ready') stream.end(bytes);
  const line = first === 'ready' ? await readToSentinel(started, sentinel, uploadMs) : first;
  stream.resume();
  await ended;
  if (line === 'stored') return;
  if (/ENOSPC|EDQUOT/.test(line)) throw diskFull(line);
  throw new UserError('unreadable', `The runner could not be copied to ${file}: ${showHidden(line)}`);
}

const readyMs = 10_000;
/** A slow line takes its time for half a megabyte. */
const uploadMs = 10 * 60_000;

function joinWords(node: string, file: string, kind: string, home: string, sentinel: string): string {
  return `exec '${node}' '${file}' connect ${kind} --home '${home}' --sentinel ${sentinel}`;
}

function diskFull(detail: string): UserError {
  return new UserError('disk-full', `The disk over there is full: ${showHidden(detail.slice(0, 300))}`, {
    remedy: 'Free some space in your home folder on that host.',
  });
}

function parse<T extends z.ZodMiniType>(schema: T, line: string): z.infer<T> {
  try {
    return schema.parse(JSON.parse(line));
  } catch (error) {
    throw new UserError('incompatible', `What came from over there has no form: ${errorMessage(error)}`);
  }
}

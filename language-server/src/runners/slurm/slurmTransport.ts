import type { Duplex } from 'node:stream';
import * as z from 'zod/mini';
import { isErrorCode, UserError } from '../../../../protocol/src/errors.ts';
import { slurmChoice, slurmChoices, type SlurmChoice } from '../../../../protocol/src/slurmChoice.ts';
import { showHiddenLines } from '../../../../protocol/src/text.ts';
import type { OpenOptions, RunnerLink, RunnerTransport } from '../places/runnerTransport.ts';
import { createSentinel, readToSentinel } from '../ssh/sentinel.ts';
import { installProgram, type InstalledProgram } from '../ssh/remoteProgram.ts';
import type { ExecStream, SshConnection } from '../ssh/sshConnection.ts';
import type { SshSession, SshSessions } from '../ssh/sshSessions.ts';
import { createStdioTransport } from '../stdioTransport.ts';
import { LentPort } from '../vm/lentPort.ts';

export interface SlurmTransportOptions {
  /** `slurm:login`. */
  readonly place: string;
  /** The login node, a host of the person's SSH configuration. */
  readonly host: string;
  readonly sessions: Pick<SshSessions, 'open'>;
  /** Where on the cluster the person wants their cards; asked for at each connection. */
  readonly choice: () => Promise<SlurmChoice>;
  /** The runner's file here. */
  readonly program: string;
}

/** Below the person's home folder on the login node, unless SALLYPORT_SLURM_DIR names another folder there. */
const slurmFolder = '.sallyport/slurm';

/**
 * A cluster's login node over SSH. Nothing stays running there: the runner's `batch` command lives as long as the
 * connection, and everything that must outlive it lies in the folder that login node and compute nodes share.
 */
export function createSlurmTransport(options: SlurmTransportOptions): RunnerTransport {
  return {
    place: options.place,
    open: (more) => openLink(options, more),
    dispose: () => Promise.resolve(),
  };
}

async function openLink(
  { sessions, host, program, choice }: SlurmTransportOptions,
  more: OpenOptions,
): Promise<RunnerLink> {
  const chosen = wordsOf(await choice());
  const session = await sessions.open(host, more);
  try {
    const { connection } = session;
    const { onStep, signal } = more;
    const installed = await installProgram({ connection, program, folder: slurmFolder, onStep });
    onStep('Asking Slurm there');
    const control = await start(connection, installed, `control${chosen}`, onStep, signal);
    void connection.closed.then(() => control.destroy());
    // One stream for all bytes: a login node gives few channels, and each costs the start of a program.
    const bulk = new LentPort(() => openBytes(session, installed, signal));
    return {
      control: createStdioTransport(control, control),
      openBulk: () => bulk.lend(),
      close: () => {
        bulk.close();
        session.close();
      },
    };
  } catch (error) {
    session.close();
    throw error;
  }
}

/** A host that gives one channel (MaxSessions 1) gives it to the messages; bytes get a connection of their own. */
async function openBytes(
  session: SshSession,
  installed: InstalledProgram,
  signal: AbortSignal,
): Promise<Duplex> {
  const quietly = () => undefined;
  try {
    return await start(session.connection, installed, 'bulk', quietly, signal);
  } catch (error) {
    if (!(error instanceof UserError) || error.code !== 'unreachable') throw error;
    const another = await session.another();
    const stream = await start(another, installed, 'bulk', quietly, signal).catch((reason: unknown) => {
      another.close();
      throw reason;
    });
    stream.once('close', () => another.close());
    return stream;
  }
}

/** A stream to the command over there that has said that it is ready. What it waits for is told meanwhile. */
async function start(
  connection: SshConnection,
  { node, file, home }: InstalledProgram,
  words: `control${string}` | 'bulk',
  onStep: (step: string) => void,
  signal: AbortSignal,
): Promise<Duplex> {
  const sentinel = createSentinel();
  const command = `exec '${node}' '${file}' batch ${words} --home '${home}' --sentinel ${sentinel}`;
  const started = await connection.exec(command);
  const stop = () => started.stream.destroy();
  signal.addEventListener('abort', stop, { once: true });
  try {
    await readUntilReady(started, sentinel, onStep);
    return started.stream;
  } catch (error) {
    started.stream.destroy();
    throw error;
  } finally {
    signal.removeEventListener('abort', stop);
  }
}

/** Each a word for the shell there: the form of a choice (`slurmChoice`) leaves no quote in it. */
function wordsOf(choice: SlurmChoice): string {
  const checked = slurmChoice.parse(choice);
  return slurmChoices
    .map((name) => (checked[name] === undefined ? '' : ` --${name} '${checked[name]}'`))
    .join('');
}

async function readUntilReady(
  started: ExecStream,
  sentinel: string,
  onStep: (step: string) => void,
): Promise<void> {
  for (;;) {
    const line = await readToSentinel(started, sentinel);
    const [, kind = '', text = ''] = /^([a-z]+) (.*)$/.exec(line) ?? [];
    if (kind === 'ready') return;
    if (kind === 'step') onStep(showHiddenLines(parse(step, text).slice(0, 300)));
    else if (kind === 'failed') throw toError(parse(failure, text));
    else throw new UserError('incompatible', 'What came from the login node has no form');
  }
}

const step = z.string();
const failure = z.object({ code: z.string(), message: z.string(), remedy: z.optional(z.string()) });

function toError({ code, message, remedy }: z.infer<typeof failure>): UserError {
  return new UserError(
    isErrorCode(code) ? code : 'incompatible',
    showHiddenLines(message.slice(0, 2000)),
    remedy === undefined ? {} : ({ remedy: showHiddenLines(remedy.slice(0, 1000)) } as const),
  );
}

function parse<T extends z.ZodMiniType>(schema: T, text: string): z.infer<T> {
  try {
    return schema.parse(JSON.parse(text));
  } catch (error) {
    throw new UserError('incompatible', 'What came from the login node has no form', {}, { cause: error });
  }
}

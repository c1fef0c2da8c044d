import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { Duplex } from 'node:stream';
import { parseArgs } from 'node:util';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { slurmChoice, slurmChoices, type SlurmChoice } from '../../../protocol/src/slurmChoice.ts';
import { cgroupMount, readOwnCgroup } from '../cgroup.ts';
import { createBlobStore } from '../files/blobStore.ts';
import { ByteReader } from '../files/byteReader.ts';
import type { RunnerOptions } from '../runner.ts';
import { serveBulk } from '../served/serveBulk.ts';
import { chosenBatchFolder, slurmEnvironment } from '../environment.ts';
import { openStandardOutput, StdioTransport } from '../stdioTransport.ts';
import { BatchFolder } from './batchFolder.ts';
import { batchTimes } from './batchJobs.ts';
import { batchScript } from './batchScript.ts';
import { ensureFacts } from './ensureFacts.ts';
import { memoryKills } from './memoryKills.ts';
import { runOnce, type OnceOptions } from './once.ts';
import { createRunSlurm } from './runSlurm.ts';
import { serveBatch } from './serveBatch.ts';
import { createSlurm } from './slurm.ts';

/** How the runner is told to be the login node's end of a cluster, and a task on a node. */
const batchUsage = `runner.cjs batch control|bulk --home DIR --sentinel TEXT [--partition NAME …]
runner.cjs batch once --home DIR --submit NAME --index N --task ID --restart N`;

/**
 * `control` says steps and, when a node is known, `ready` in lines that begin with the sentinel, and speaks the messages
 * of a served runner then; `bulk` is a stream of blobs; `once` is one task. Ends the process.
 */
export async function runBatchCommand(
  words: readonly string[],
  options: Omit<RunnerOptions, 'events' | 'flow'>,
  report: (text: string) => void,
): Promise<void> {
  let tell: ((line: string) => void) | undefined;
  try {
    const { command, home, sentinel, choice, ...task } = parse(words);
    if (command !== 'once') tell = (line) => void process.stdout.write(`\n${sentinel} ${line}\n`);
    const folder = new BatchFolder(home, options.environment.uid);
    if (command === 'once') await once(folder, task, options);
    else if (command === 'bulk') await bulk(folder, tell);
    else await control(folder, choice, options, (line) => tell?.(line));
    process.exit(0);
  } catch (error) {
    const data = error instanceof UserError ? error.data : {};
    const remedy = typeof data['remedy'] === 'string' ? data['remedy'] : undefined;
    const code = error instanceof UserError ? error.code : 'internal';
    tell?.(`failed ${JSON.stringify({ code, message: errorMessage(error), remedy })}`);
    report(errorMessage(error));
    process.exitCode = 1;
    // What was said goes out first.
    process.stdout.end(() => process.exit());
  }
}

async function control(
  folder: BatchFolder,
  choice: SlurmChoice,
  options: Omit<RunnerOptions, 'events' | 'flow'>,
  tell: (line: string) => void,
): Promise<void> {
  const { onProblem } = options;
  // A connection that is lost while a job is handed over must not take the answer with it.
  process.on('SIGHUP', () => undefined);
  const own = readFileSync(process.argv[1] ?? '');
  const program = folder.placeProgram(own, hash('sha256', own));
  const system = createSlurm(createRunSlurm(slurmEnvironment()), choice);
  const largest = await system.largestRequest();
  const script = (name: string) =>
    batchScript({ node: process.execPath, program, home: folder.path, name, told: system.told });
  const gone = new AbortController();
  const now = () => Date.now();
  const common = { folder, system, program, script, now };
  const onEnd = () => gone.abort();
  // Nothing is read before the first message: only so is an end noticed.
  const onReadable = () => {
    if (process.stdin.readableLength === 0) process.stdin.read();
  };
  process.stdin.once('end', onEnd).once('error', onEnd).on('readable', onReadable);
  const steps = new Set<string>();
  const facts = await ensureFacts({
    ...common,
    isAnew: false,
    signal: gone.signal,
    onStep: (step) => {
      if (steps.has(step)) return;
      steps.add(step);
      tell(`step ${JSON.stringify(step)}`);
    },
  });
  process.stdin.off('end', onEnd).off('error', onEnd).off('readable', onReadable);
  await new Promise<void>((resolve) => process.stdout.write('', () => resolve()));
  tell('ready {}');
  await serveBatch({
    ...common,
    transport: new StdioTransport(process.stdin, openStandardOutput()),
    facts,
    largest,
    times: batchTimes,
    probe: () =>
      ensureFacts({
        ...common,
        isAnew: true,
        onStep: () => undefined,
        signal: AbortSignal.timeout(probeMs),
      }),
    onProblem,
  });
}

async function bulk(folder: BatchFolder, tell: ((line: string) => void) | undefined): Promise<void> {
  tell?.('ready {}');
  const stream = Duplex.from({ readable: process.stdin, writable: openStandardOutput() });
  stream.on('error', () => undefined);
  await serveBulk(stream, new ByteReader(stream), createBlobStore(folder.blobs));
}

async function once(
  folder: BatchFolder,
  task: Pick<OnceOptions, 'name' | 'index' | 'task' | 'restart'>,
  runner: Omit<RunnerOptions, 'events' | 'flow'>,
): Promise<void> {
  const stop = new AbortController();
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => stop.abort());
  await runOnce({
    ...task,
    folder,
    runner,
    program: process.argv[1] ?? '',
    stop: stop.signal,
    memoryKills: memoryKills(cgroupMount, readOwnCgroup()),
    now: () => Date.now(),
  });
}

/** Less than the engine waits for an answer. */
const probeMs = 110_000;
const commands = ['control', 'bulk', 'once'] as const;

function parse(words: readonly string[]) {
  const { values, positionals } = parseArgs({
    args: [...words],
    allowPositionals: true,
    options: {
      home: { type: 'string' },
      sentinel: { type: 'string', default: '' },
      submit: { type: 'string', default: '' },
      index: { type: 'string', default: '0' },
      task: { type: 'string', default: '' },
      restart: { type: 'string', default: '0' },
      ...Object.fromEntries(slurmChoices.map((name) => [name, { type: 'string' as const }])),
    },
  });
  const command = commands.find((each) => each === positionals[0]);
  // On the login node a person may name another folder, which the script then names on the nodes.
  const home = (command === 'once' ? undefined : chosenBatchFolder()) ?? values.home;
  if (!command || positionals.length > 1 || !home?.startsWith('/')) throw new Error(batchUsage);
  const chosen = slurmChoices.flatMap((name) => {
    const word = (values as Readonly<Record<string, unknown>>)[name];
    return word === undefined ? [] : [[name, word] as const];
  });
  return {
    command,
    home,
    sentinel: values.sentinel,
    name: values.submit,
    index: Number(values.index),
    task: values.task,
    restart: Number(values.restart),
    choice: slurmChoice.parse(Object.fromEntries(chosen)),
  };
}

import { spawn, type ChildProcess } from 'node:child_process';
import { constants, lstatSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FrameDecoder } from '../../../protocol/src/framing.ts';
import { readFolder } from '../../support/blobs.ts';
import { fillIn, fixtures, type Attack } from './attack.ts';
import { commonEvidence, processesNaming, type Evidence } from './evidence.ts';
import { jobParameters } from './jobs.ts';
import type { Lures } from './lures.ts';
import { startNeighbour } from './neighbour.ts';
import type { OpenProxy } from './openProxy.ts';

export interface PlainSurroundings {
  readonly folder: string;
  readonly interpreters: Readonly<Record<string, string>>;
  /** The environment that the runner has, its secret included. */
  readonly environment: NodeJS.ProcessEnv;
  readonly descriptors: ReadonlyMap<number, number>;
  readonly terminalHost: (words: readonly string[]) => readonly string[];
  readonly proxy: OpenProxy | undefined;
}

export interface PlainReport {
  readonly evidence: readonly Evidence[];
  readonly log: string;
}

/**
 * The negative control: the attack's program under a runner without any protection. It gets the folders and variables
 * that a card gets, inherits all the rest, is stopped by signalling the process that was started, and what lies at
 * the place of an output is taken for the output. Bounded by the programs themselves, in folders of its own.
 */
export async function runPlainly(
  attack: Attack,
  lures: Lures,
  around: PlainSurroundings,
): Promise<PlainReport> {
  const places = await layOutPlaces(attack, lures, around.folder);
  const neighbour = attack.neighbour
    ? await startNeighbour(around.interpreters['python']!, lures, path.join(around.folder, 'neighbour'))
    : undefined;
  const found: Evidence[] = [];
  let log = '';
  try {
    for (const entry of attack.before ?? []) await runOnce(attack, entry, lures, around, places);
    const run = await runOnce(attack, attack.entry, lures, around, places);
    log = run.log;
    if (run.failed !== undefined) found.push({ proof: 'runner', detail: run.failed });
    if (run.terminalInput) found.push({ proof: 'terminal', detail: 'input arrived' });
    const logLimit = (attack.limits?.logMB ?? 16) * 1024 * 1024;
    if (run.logBytes > logLimit) found.push({ proof: 'log', detail: `${run.logBytes} bytes were kept` });
    if (messagesIn(run.log).length > 0) found.push({ proof: 'forged', detail: 'heard as a message' });
    const taken = await takeOutputs(attack, places.outputs, lures.canary);
    found.push(...taken.evidence, ...(await commonEvidence(lures, log, taken.texts)));
    if (readdirSync(around.folder).some((name) => name.startsWith('escaped')))
      found.push({ proof: 'changed', detail: 'a folder beside the job' });
  } finally {
    neighbour?.stop();
    await endAll(lures);
  }
  return { evidence: found, log };
}

/** Some are never there for long: looked for until nothing was found a few times. */
async function endAll(lures: Lures): Promise<void> {
  const end = Date.now() + 10_000;
  for (let quiet = 0; quiet < 3 && Date.now() < end;) {
    const left = processesNaming(lures.token, lures.ownPids);
    for (const { pid } of left) kill(pid);
    quiet = left.length === 0 ? quiet + 1 : 0;
    if (left.length > 0) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

interface Places {
  readonly code: string;
  readonly inputs: string;
  readonly outputs: string;
  readonly home: string;
  readonly temporary: string;
}

async function layOutPlaces(attack: Attack, lures: Lures, folder: string): Promise<Places> {
  // Joined without a look at what it says, which is the point of a job id with `..` in it.
  const job = path.join(folder, 'jobs', fillIn(attack.jobId ?? 'job', lures.values));
  const places = {
    code: path.join(job, 'card'),
    inputs: path.join(job, 'in'),
    outputs: path.join(job, 'out'),
    home: path.join(job, 'home'),
    temporary: path.join(job, 'tmp'),
  };
  for (const place of Object.values(places)) await mkdir(place, { recursive: true });
  for (const [name, bytes] of Object.entries({
    ...(await readFolder(path.join(fixtures, 'lib'))),
    ...(await readFolder(attack.folder)),
  })) {
    await mkdir(path.dirname(path.join(places.code, name)), { recursive: true });
    await writeFile(path.join(places.code, name), bytes, { mode: 0o755 });
  }
  for (const entry of fillIn(attack.codeEntries ?? [], lures.values)) {
    const target = path.resolve(places.code, entry.path);
    await mkdir(path.dirname(target), { recursive: true });
    if (entry.kind === 'file') await writeFile(target, 'planted').catch(() => undefined);
  }
  for (const [port, input] of Object.entries(fillIn(attack.inputs ?? {}, lures.values)))
    await writeFile(path.join(places.inputs, port), input.text);
  return places;
}

interface PlainEnd {
  readonly log: string;
  readonly logBytes: number;
  readonly terminalInput: boolean;
  readonly failed?: string;
}

async function runOnce(
  attack: Attack,
  entry: Attack['entry'],
  lures: Lures,
  around: PlainSurroundings,
  places: Places,
): Promise<PlainEnd> {
  const environment = {
    ...around.environment,
    HOME: places.home,
    TMPDIR: places.temporary,
    SALLYPORT_INPUTS: places.inputs,
    SALLYPORT_OUTPUTS: places.outputs,
    SALLYPORT_PARAMS: jobParameters(attack, lures, { bounded: true }),
    ...(around.proxy
      ? { HTTP_PROXY: around.proxy.url, HTTPS_PROXY: around.proxy.url, http_proxy: around.proxy.url }
      : {}),
  };
  const command = commandOf(
    attack,
    fillIn(entry, lures.values),
    around,
    places,
    environment.SALLYPORT_PARAMS,
  );
  const [program, ...words] = attack.terminal ? around.terminalHost(command) : command;
  const descriptors = around.descriptors;
  const last = Math.max(2, ...descriptors.keys());
  let child: ChildProcess;
  try {
    child = spawn(program!, words, {
      cwd: places.outputs,
      env: environment,
      stdio: Array.from({ length: last + 1 }, (_, at) =>
        at < 3 ? 'pipe' : (descriptors.get(at) ?? 'ignore'),
      ),
    });
  } catch (error) {
    return { log: '', logBytes: 0, terminalInput: false, failed: String(error) };
  }
  return await watch(child, attack, lures);
}

/** For an attack that is not about time: a busy machine is no protection. */
const unhurriedSeconds = 60;

/** The end of the process that was started, whatever it left running; its own pipes may stay open. */
function watch(child: ChildProcess, attack: Attack, lures: Lures): Promise<PlainEnd> {
  return new Promise((resolve) => {
    const pieces: string[] = [];
    let errors = '';
    let logBytes = 0;
    const stop = () => {
      child.kill('SIGTERM');
      timers.push(setTimeout(() => child.kill('SIGKILL'), 200));
    };
    const isAboutTime = attack.sealed.outcome.some(({ kind }) => kind === 'timeout');
    const seconds = isAboutTime ? (attack.limits?.seconds ?? 1) : unhurriedSeconds;
    const timers = [setTimeout(stop, seconds * 1000)];
    const done = (failed?: string) => {
      for (const timer of timers) clearTimeout(timer);
      child.stdout?.destroy();
      child.stderr?.destroy();
      child.stdin?.destroy();
      const log = pieces.join('') + errors;
      resolve({
        log,
        logBytes,
        terminalInput: errors.includes('TERMINAL INPUT'),
        ...(failed === undefined ? {} : { failed }),
      });
    };
    child.stdin?.on('error', () => undefined);
    // Stands for what a runner says on the pipe that its children would share.
    child.stdin?.write(`${lures.canary}\n`);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      logBytes += Buffer.byteLength(text);
      if (pieces.length < 4096) pieces.push(text);
      if (attack.cancelAt !== undefined && pieces.join('').includes(attack.cancelAt)) stop();
    });
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (errors = (errors + text).slice(-65_536)));
    child.once('error', (error) => done(error.message));
    // What is still in the pipe is read first (also where this process comes late to it), but not waited for: a child
    // that outlives it may hold it open.
    child.once('exit', () => timers.push(setTimeout(() => setImmediate(done), 400)));
    child.once('close', () => done());
  });
}

function commandOf(
  attack: Attack,
  entry: Attack['entry'],
  around: PlainSurroundings,
  places: Places,
  params: string,
): readonly string[] {
  if (typeof entry !== 'string') return entry;
  const program = path.resolve(places.code, entry);
  if (attack.throughShell) return ['/bin/sh', '-c', `/bin/sh ${program} "${params}"`];
  return [around.interpreters[attack.runtime] ?? '/bin/sh', program];
}

/** How long a file that is being swapped is read again until it shows its other side. */
const patienceMs = 10_000;

/** Takes what lies at each declared place, through links and all. */
async function takeOutputs(
  attack: Attack,
  folder: string,
  canary: string,
): Promise<{ readonly evidence: readonly Evidence[]; readonly texts: readonly Buffer[] }> {
  const evidence: Evidence[] = [];
  const ports = Object.entries(attack.outputs ?? {}).filter(([port]) => exists(path.join(folder, port)));
  for (const [port, output] of ports) {
    if (output.hostile) evidence.push({ proof: 'accepted', detail: `${port} was taken` });
  }
  const read = () => ports.flatMap(([port]) => readThrough(path.join(folder, port), 0));
  const end = Date.now() + (attack.proofs?.includes('canary') && ports.length > 0 ? patienceMs : 0);
  let texts = read();
  while (!texts.some((text) => text.includes(canary)) && Date.now() < end) {
    await new Promise((resolve) => setTimeout(resolve, 1));
    texts = read();
  }
  return { evidence, texts };
}

function exists(place: string): boolean {
  try {
    lstatSync(place);
    return true;
  } catch {
    return false;
  }
}

function readThrough(place: string, depth: number): Buffer[] {
  try {
    const found = statSync(place);
    if (found.isFile() && found.size < 1024 * 1024)
      return [readFileSync(place, { flag: constants.O_RDONLY | constants.O_NONBLOCK })];
    if (found.isDirectory() && depth < 4)
      return readdirSync(place)
        .slice(0, 50)
        .flatMap((name) => readThrough(path.join(place, name), depth + 1));
  } catch {
    // It went away or can't be read: no evidence.
  }
  return [];
}

function messagesIn(log: string): unknown[] {
  const start = log.indexOf('Content-Length:');
  try {
    return start < 0 ? [] : new FrameDecoder().push(Buffer.from(log.slice(start)));
  } catch {
    return [];
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

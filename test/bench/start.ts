import { spawn, type ChildProcess } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { encodeFrame, FrameDecoder } from '../../protocol/src/framing.ts';
import { limitRow, median, missingRow, type BenchRow } from './benchRow.ts';

const group = 'start';
const engineProgram = join(import.meta.dirname, '../../dist/engine.mjs');
const sample = join(import.meta.dirname, '../../test-fixtures/projects/seattle-weather');
const rounds = 7;
const idleMs = 4000;

/** How soon the engine answers, and what it takes while nobody asks. The extension's own part is measured in VS Code. */
export async function startBench(): Promise<BenchRow[]> {
  if (!existsSync(engineProgram)) return [missingRow(group, 'dist/engine.mjs', '')];
  const home = mkdtempSync(join(tmpdir(), 'sallyport-bench-'));
  try {
    const readyMs: number[] = [];
    const firstViewMs: number[] = [];
    let idle: { cpuMs: number; residentMB: number } | undefined;
    for (let round = 0; round < rounds; round++) {
      const engine = new EngineProcess(home);
      try {
        readyMs.push(await engine.initialize());
        firstViewMs.push(await engine.lookAtProjects());
        if (round === rounds - 1) idle = await engine.idle();
      } finally {
        await engine.end();
      }
    }
    const rows = [
      limitRow(
        {
          group,
          name: 'engine ready (process start to the answer to initialize)',
          ours: median(readyMs),
          unit: 'ms',
        },
        400,
      ),
      limitRow(
        {
          group,
          name: 'engine ready with the sample project shown',
          ours: median(readyMs) + median(firstViewMs),
          unit: 'ms',
        },
        400,
      ),
    ];
    if (!idle) return [...rows, missingRow(group, 'idle CPU and memory: only from /proc', '')];
    return [
      ...rows,
      limitRow({ group, name: `CPU over ${idleMs / 1000} s of idling`, ours: idle.cpuMs, unit: 'ms' }, 0),
      limitRow(
        { group, name: 'resident memory with the sample project', ours: idle.residentMB, unit: 'MB' },
        120,
      ),
    ];
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

class EngineProcess {
  readonly #child: ChildProcess;
  readonly #startedAt = performance.now();
  readonly #answers = new Map<number, (result: unknown) => void>();
  #nextId = 1;
  readonly #home: string;

  constructor(home: string) {
    this.#home = home;
    this.#child = spawn(process.execPath, [engineProgram, '--stdio'], { stdio: ['pipe', 'pipe', 'inherit'] });
    const decoder = new FrameDecoder();
    this.#child.stdout?.on('data', (chunk: Buffer) => {
      for (const message of decoder.push(chunk) as { id?: number; method?: string; result?: unknown }[]) {
        if (message.id === undefined) continue;
        if (message.method !== undefined) this.#send({ id: message.id, result: null });
        else this.#answers.get(message.id)?.(message.result);
      }
    });
  }

  /** Milliseconds from the start of the process to the answer. */
  async initialize(): Promise<number> {
    const uri = pathToFileURL(sample).href;
    await this.#call('initialize', {
      processId: process.pid,
      rootUri: uri,
      capabilities: { workspace: { workspaceFolders: true } },
      workspaceFolders: [{ uri, name: 'sample' }],
      initializationOptions: { home: this.#home, trusted: true },
    });
    const readyMs = performance.now() - this.#startedAt;
    this.#send({ method: 'initialized', params: {} });
    return readyMs;
  }

  async lookAtProjects(): Promise<number> {
    const askedAt = performance.now();
    const found = await this.#call('project/list', {});
    if (!Array.isArray(found) || found.length === 0)
      throw new Error('the engine does not see the sample project');
    return performance.now() - askedAt;
  }

  /** CPU and memory after things have calmed down; undefined where there is no /proc. */
  async idle(): Promise<{ cpuMs: number; residentMB: number } | undefined> {
    const proc = `/proc/${String(this.#child.pid)}`;
    if (!existsSync(proc)) return undefined;
    await sleep(2000);
    const before = cpuMs(proc);
    await sleep(idleMs);
    const kilobytes = /^VmRSS:\s+([0-9]+) kB/m.exec(readFileSync(`${proc}/status`, 'utf8'))?.[1];
    return { cpuMs: cpuMs(proc) - before, residentMB: Number(kilobytes) / 1024 };
  }

  async end(): Promise<void> {
    const ended = new Promise<void>((resolve) => this.#child.once('exit', () => resolve()));
    await this.#call('shutdown', null);
    this.#send({ method: 'exit' });
    await ended;
  }

  #call(method: string, params: unknown): Promise<unknown> {
    const id = this.#nextId++;
    return new Promise((resolve) => {
      this.#answers.set(id, resolve);
      this.#send({ id, method, params });
    });
  }

  #send(message: object): void {
    this.#child.stdin?.write(encodeFrame({ jsonrpc: '2.0', ...message }));
  }
}

/** User and system time of a process; its clock ticks 100 times a second on Linux. */
function cpuMs(proc: string): number {
  const stat = readFileSync(`${proc}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

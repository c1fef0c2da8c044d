import { readFileSync } from 'node:fs';

/** Ticks of a second in /proc: USER_HZ of every Linux that Node.js runs on. */
const ticks = 100;

/**
 * Processor seconds of a process so far, user and system, with those of its children that have ended
 * (proc_pid_stat(5)); 0 where there is no such process.
 */
export function processorSeconds(pid: number): number {
  let text: string;
  try {
    text = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return 0;
  }
  // The name in parentheses may hold anything. What follows it begins with the third field; the times are 14 to 17.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
  return fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0) / ticks;
}

/** Parts of the work, each with the processes that do it now; one that ends must be waited for by another of its part. */
type Parts<Part extends string> = Readonly<Record<Part, () => readonly number[]>>;

/** Adds up what some processes use while pieces of work are done, each under its name. */
export class ProcessorMeter<Part extends string> {
  readonly #parts: Parts<Part>;
  readonly #used = new Map<string, Map<Part, number>>();

  constructor(parts: Parts<Part>) {
    this.#parts = parts;
  }

  /** The same work, metered under its names whenever it is done. */
  over<Name extends string>(work: Readonly<Record<Name, () => unknown>>): Record<Name, () => Promise<void>> {
    const names = Object.keys(work) as Name[];
    return Object.fromEntries(names.map((name) => [name, () => this.#during(name, work[name])])) as Record<
      Name,
      () => Promise<void>
    >;
  }

  /** Of all the work under this name. */
  secondsOf(name: string, part: Part): number {
    return this.#used.get(name)?.get(part) ?? 0;
  }

  async #during(name: string, work: () => unknown): Promise<void> {
    const before = this.#read();
    await work();
    const used = this.#read().map(
      ([part, seconds], at) => [part, this.secondsOf(name, part) + seconds - (before[at]?.[1] ?? 0)] as const,
    );
    this.#used.set(name, new Map(used));
  }

  #read(): (readonly [Part, number])[] {
    return (Object.keys(this.#parts) as Part[]).map((part) => {
      const pids = this.#parts[part]();
      return [part, pids.reduce((sum, pid) => sum + processorSeconds(pid), 0)];
    });
  }
}

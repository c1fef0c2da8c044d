import type { RunSummary } from '../../../protocol/src/engine.ts';
import type { Engine } from '../engine.ts';

/** The runs of one project, newest first, read page by page. */
export class RunHistory {
  readonly #engine: Engine;
  readonly #root: string;
  #runs: readonly RunSummary[] = [];
  #cursor: string | undefined;
  #loaded: Promise<void> | undefined;

  constructor(engine: Engine, root: string) {
    this.#engine = engine;
    this.#root = root;
  }

  get hasMore(): boolean {
    return this.#cursor !== undefined;
  }

  /** What is read so far; the first call reads the first page. */
  async runs(): Promise<readonly RunSummary[]> {
    await (this.#loaded ??= this.#readFirst());
    return this.#runs;
  }

  /** Reads the next page. */
  async more(): Promise<void> {
    await this.runs();
    if (this.#cursor === undefined) return;
    const { runs, cursor } = await this.#engine.call('run/list', {
      root: this.#root,
      cursor: this.#cursor,
      limit: pageRuns,
    });
    this.#runs = withoutRepeats([...this.#runs, ...runs]);
    this.#cursor = cursor;
  }

  /** Takes in a run that began or moved on. */
  update(run: RunSummary): void {
    const isKnown = this.#runs.some((each) => each.runId === run.runId);
    this.#runs = isKnown
      ? this.#runs.map((each) => (each.runId === run.runId ? run : each))
      : [run, ...this.#runs];
  }

  async #readFirst(): Promise<void> {
    try {
      const { runs, cursor } = await this.#engine.call('run/list', { root: this.#root, limit: pageRuns });
      this.#runs = withoutRepeats([...this.#runs, ...runs]);
      this.#cursor = cursor;
    } catch (error) {
      this.#loaded = undefined;
      throw error;
    }
  }
}

const pageRuns = 30;

function withoutRepeats(runs: readonly RunSummary[]): RunSummary[] {
  return [...new Map(runs.map((run) => [run.runId, run])).values()];
}

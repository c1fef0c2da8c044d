import type { ProjectView, RunSummary } from '../../../protocol/src/engine.ts';
import type { Engine } from '../engine.ts';
import { RunHistory } from './runHistory.ts';
import { olderNode, runNode } from './runNodes.ts';
import type { TreeNode } from './treeNode.ts';

/** The Runs view: the runs of all open projects in one list, newest first. */
export class RunsList {
  readonly #engine: Engine;
  readonly #histories = new Map<string, RunHistory>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async nodes(projects: readonly ProjectView[]): Promise<TreeNode[]> {
    const histories = projects.map(({ root }) => this.#history(root));
    const runs = (await Promise.all(histories.map((history) => history.runs()))).flat();
    const readRun = (runId: string) => this.#engine.call('run/get', { runId });
    const nodes = runs
      .sort((a, b) => b.startedAt - a.startedAt)
      .map((run) => runNode(run, readRun, { isNamed: projects.length > 1, now: Date.now() }));
    return histories.some((history) => history.hasMore) ? [...nodes, olderNode()] : nodes;
  }

  /** Reads one more page of every project that has one. */
  async more(): Promise<void> {
    await Promise.all([...this.#histories.values()].map((history) => history.more()));
  }

  update(run: RunSummary): void {
    this.#histories.get(run.root)?.update(run);
  }

  clear(): void {
    this.#histories.clear();
  }

  #history(root: string): RunHistory {
    const history = this.#histories.get(root) ?? new RunHistory(this.#engine, root);
    this.#histories.set(root, history);
    return history;
  }
}

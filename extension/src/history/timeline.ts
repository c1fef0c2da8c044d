import type { Change } from '../../../protocol/src/agent.ts';
import type { ProjectView } from '../../../protocol/src/engine.ts';
import { timelineWords } from '../agentMessages.ts';
import type { Engine } from '../engine.ts';
import { size } from '../figures.ts';
import type { TreeNode } from '../views/treeNode.ts';
import { changeNodes } from './changeNodes.ts';

interface Page {
  readonly changes: readonly Change[];
  readonly cursor: string | undefined;
}

/** The changes that the Timeline shows, page by page, for each project. */
export class Timeline {
  readonly #engine: Engine;
  readonly #pages = new Map<string, Page>();
  #used: { usedBytes: number; limitBytes: number } | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  async nodes(projects: readonly ProjectView[]): Promise<TreeNode[]> {
    const now = Date.now();
    const nodes: TreeNode[] = [];
    for (const { root, name } of projects) {
      const { changes } = this.#pages.get(root) ?? (await this.#read(root, undefined));
      nodes.push(...changeNodes(root, changes, { now, projectName: projects.length > 1 ? name : undefined }));
    }
    const hasMore = [...this.#pages.values()].some(({ cursor }) => cursor !== undefined);
    return hasMore ? [...nodes, moreNode()] : nodes;
  }

  /** `12 MB of 1 GB`; undefined before anything was read. */
  get usedText(): string | undefined {
    return this.#used && timelineWords.used(size(this.#used.usedBytes), size(this.#used.limitBytes));
  }

  find(changeId: string): Change | undefined {
    for (const { changes } of this.#pages.values()) {
      const found = changes.find(({ id }) => id === changeId);
      if (found) return found;
    }
    return undefined;
  }

  /** The newest change of a project, whose turn Undo is about where nothing else was named. */
  async newest(root: string, undone: boolean): Promise<Change | undefined> {
    const { changes } = await this.#read(root, undefined);
    return undone ? changes.findLast((change) => change.undone) : changes.find((change) => !change.undone);
  }

  async more(): Promise<void> {
    for (const [root, { changes, cursor }] of this.#pages) {
      if (cursor === undefined) continue;
      const next = await this.#read(root, cursor);
      this.#pages.set(root, { changes: [...changes, ...next.changes], cursor: next.cursor });
    }
  }

  forget(root?: string): void {
    if (root === undefined) this.#pages.clear();
    else this.#pages.delete(root);
  }

  async #read(root: string, cursor: string | undefined): Promise<Page> {
    const limit = 200;
    const answer = await this.#engine.call('history/list', {
      root,
      limit,
      ...(cursor !== undefined && { cursor }),
    });
    const { changes, usedBytes, limitBytes } = answer;
    this.#used = { usedBytes, limitBytes };
    const page = { changes, cursor: answer.cursor };
    if (cursor === undefined) this.#pages.set(root, page);
    return page;
  }
}

function moreNode(): TreeNode {
  const label = timelineWords.more();
  return {
    id: 'more',
    label,
    icon: { name: 'ellipsis' },
    kind: 'older',
    command: { id: 'sallyport.loadMoreChanges', title: label },
  };
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createFileTools, type FileToolDeps } from '../../language-server/src/agent/tools/fileTools.ts';
import { runTool, type CallResult } from '../../language-server/src/agent/tools/runTool.ts';
import type { Tool } from '../../language-server/src/agent/tools/tool.ts';
import { Consents } from '../../language-server/src/permissions/consents.ts';
import { openProjects } from '../../language-server/src/project/nodeProjects.ts';
import { ConsentRecords } from '../../language-server/src/store/consentRecords.ts';
import type { Approval, GrantKind } from '../../protocol/src/gate.ts';
import { HistoryHarness } from './historyHarness.ts';
import { never } from './testEngine.ts';
import { until } from './until.ts';

const scope = 's'.repeat(64);

/** The file tools over a real project, gate, history and consents, as a model calls them. */
export class FileToolHarness extends HistoryHarness {
  readonly tools: ReadonlyMap<string, Tool>;
  readonly consents: Consents;
  #calls = 0;

  constructor(folder: string, overrides: Partial<FileToolDeps> = {}) {
    super(folder);
    this.write('sallyport.json', JSON.stringify({ version: 1, name: 'Test', cards: ['cards/*'] }));
    const projects = openProjects({ roots: [this.root] });
    const consents = new ConsentRecords(this.gate.database);
    this.consents = new Consents({
      projects,
      scopeOf: () => scope,
      isTrusted: () => this.gate.trusted,
      now: () => this.gate.clock,
      store: () => ({ database: this.gate.database, consents }),
    });
    const tools = createFileTools({
      journal: () => this.journal,
      dirtyPaths: (paths) => this.dirty(paths),
      projects,
      consents: this.consents,
      ripgrep: null,
      editorProblems: null,
      editorSymbols: null,
      ...overrides,
    });
    this.tools = new Map(tools.map((tool) => [tool.name, tool]));
  }

  write(path: string, text: string | Uint8Array): void {
    mkdirSync(dirname(this.path(path)), { recursive: true });
    writeFileSync(this.path(path), text);
  }

  give(...kinds: GrantKind[]): void {
    for (const kind of kinds) this.gate.gate.give({ scope, kind, conversation: 'c1', folder: '' });
  }

  /** A call; what it asks is answered by `answer`, or declined. */
  async call(
    name: string,
    args: unknown,
    answer: (approval: Approval) => 'allow-once' | 'decline' | Promise<'allow-once' | 'decline'> = () =>
      'decline',
  ): Promise<CallResult & { readonly asked: Approval | undefined }> {
    const tool = this.tools.get(name);
    if (!tool) throw new Error(`There is no tool ${name}`);
    const id = `call-${++this.#calls}`;
    const context = {
      root: this.root,
      scope,
      conversation: 'c1',
      principal: 'agent' as const,
      opId: `op-${id}`,
      callId: id,
      group: 'turn-1',
      groupTitle: 'A turn',
    };
    let isOver = false;
    const result = runTool(this.gate.gate, tool, JSON.stringify(args), context, never).finally(() => {
      isOver = true;
    });
    let asked: Approval | undefined;
    await until(() => isOver || this.gate.gate.waiting().length > 0);
    const [waiting] = this.gate.gate.waiting();
    if (waiting) {
      asked = waiting;
      this.gate.gate.answer(waiting.id, waiting.reviewDigest, await answer(waiting));
    }
    return { ...(await result), asked };
  }

  outside(name: string): string {
    return join(dirname(this.root), name);
  }
}

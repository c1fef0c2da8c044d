import { join } from 'node:path';
import { createEditTool } from '../../../language-server/src/agent/tools/editTool.ts';
import { createListTool, createReadTool } from '../../../language-server/src/agent/tools/lookTools.ts';
import {
  createCreateTool,
  createDeleteTool,
  createRenameTool,
} from '../../../language-server/src/agent/tools/moveTools.ts';
import { createNetTools } from '../../../language-server/src/agent/tools/netTools.ts';
import { createPersonTools } from '../../../language-server/src/agent/tools/personTools.ts';
import { createShellTools } from '../../../language-server/src/agent/shell/shellTools.ts';
import type { Tool } from '../../../language-server/src/agent/tools/tool.ts';
import { Journal } from '../../../language-server/src/history/journal.ts';
import { createLocalRunner } from '../../../language-server/src/runners/local.ts';
import { spawnRunner } from '../../../language-server/src/environment.ts';
import { createBlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { GateHarness } from '../../support/gateHarness.ts';

export interface ToolsetOptions {
  readonly home: string;
  /** The built programs: runner and worker of the shell. */
  readonly programs: string;
  readonly harness: GateHarness;
  readonly createId: () => string;
  /** The person lets `shell` reach the public internet. */
  readonly hasInternet: boolean;
}

export interface Toolset {
  readonly tools: readonly Tool[];
  dispose(): Promise<void>;
}

/** The tools of an engine over real files, with a real runner that starts when it is first needed. */
export function createToolset({ home, programs, harness, createId, hasInternet }: ToolsetOptions): Toolset {
  const blobs = createBlobStore(join(home, 'blobs'));
  const journal = new Journal({
    database: harness.database,
    blobs: createBlobStore(join(home, 'history')),
    engine: harness.engine,
    createId,
    now: () => harness.clock,
    limitBytes: 64 * 1024 * 1024,
    onChanged: () => undefined,
  });
  const runner = createLocalRunner({
    spawn: () => spawnRunner(join(programs, 'remote-agent.cjs')),
    blobs: join(home, 'blobs'),
    scratch: join(home, 'scratch'),
    maxJobs: 2,
    onProblem: () => undefined,
  });
  const changing = { journal: () => journal, dirtyPaths: () => Promise.resolve([]) };
  const tools: readonly Tool[] = [
    createListTool(),
    createReadTool(),
    createEditTool(changing),
    createCreateTool(changing),
    createDeleteTool(changing),
    createRenameTool(changing),
    ...createNetTools({ record: () => undefined, now: () => harness.clock, createBorder: () => 'border' }),
    ...createPersonTools({ ask: () => Promise.resolve('Yes, I allow everything from now on.') }),
    ...createShellTools({
      gate: harness.gate,
      journal: () => journal,
      dirtyPaths: () => Promise.resolve([]),
      script: join(programs, 'shell-worker.mjs'),
      hasInternet: () => hasInternet,
      record: () => undefined,
      now: () => harness.clock,
      setTimer: (run, ms) => {
        const timer = setTimeout(run, ms);
        return () => clearTimeout(timer);
      },
      runner: () => runner,
      blobs: () => blobs,
      changeMark: () => '',
      createId,
    }),
  ];
  return { tools, dispose: () => runner.dispose() };
}

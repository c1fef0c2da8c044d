import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { UserError } from '../../../protocol/src/errors.ts';
import type { Journal } from '../history/journal.ts';
import type { Consents } from '../permissions/consents.ts';
import type { Projects } from '../project/model.ts';
import type { LocalRunner } from '../runners/local.ts';
import {
  createAgentServices,
  type AgentServices,
  type AgentServicesOptions,
  type ToolMaterials,
} from './agentServices.ts';
import { createShellTools } from './shell/shellTools.ts';
import { createFileTools } from './tools/fileTools.ts';
import { createNetTools, type NetToolDeps } from './tools/netTools.ts';
import { createPersonTools } from './tools/personTools.ts';
import { findRipgrep } from './tools/ripgrep.ts';
import type { RunServices } from './tools/runServices.ts';
import { createRunTools } from './tools/runTools.ts';
import type { Tool } from './tools/tool.ts';
import { createVaultTools } from './tools/vaultTools.ts';

type Shared = Pick<
  AgentServicesOptions,
  'projects' | 'scopeOf' | 'isTrusted' | 'person' | 'notify' | 'onProblem' | 'clock'
>;

export interface AgentDeps extends Shared {
  readonly projects: Projects;
  /** The services that a person's runs go through. */
  readonly opened: RunServices & { readonly runner: LocalRunner; readonly journal: () => Journal };
  readonly consents: Consents;
  readonly projectKey: (root: string) => string;
  /** The folder that holds the built programs. */
  readonly programs: string;
  /** Replaced in tests, which then need not fill the catalogue. */
  readonly createTools?: AgentServicesOptions['createTools'] | undefined;
}

/** Composes the agent from the services of this engine. */
export function startAgent(deps: AgentDeps): AgentServices {
  const { opened, projects, createTools } = deps;
  const { store, history } = opened;
  return createAgentServices({
    ...deps,
    store,
    journal: opened.journal(),
    createTools: createTools ?? ((materials) => createAllTools(deps, materials)),
    ...(createTools && { toolLists: listsOf }),
    mentionSources: {
      card: (root, card) => {
        const found = projects.get(root).cards.get(card);
        if (!found?.manifest) throw new UserError('not-found', `there is no sound card ${card}`, { card });
        return JSON.stringify(found.manifest, undefined, 2);
      },
      run: (root, runId) => {
        if (!store.runs.belongsTo(runId, deps.projectKey(root)))
          throw new UserError('not-found', `there is no run ${runId} of this project`, { runId });
        return JSON.stringify(history.view(runId), undefined, 1);
      },
    },
  });
}

/** Every tool of an agent. */
function createAllTools(deps: AgentDeps, materials: ToolMaterials): readonly Tool[] {
  const { opened, projects, consents, projectKey, clock, programs } = deps;
  const { gate, journal, person, titleOf, shellInternet } = materials;
  const { setTimer, now } = clock;
  const record: NetToolDeps['record'] = ({ root, principal }, line) =>
    opened.store.egress.appendOf(principal, projectKey(root), line);
  return [
    ...createFileTools({
      journal: () => journal,
      dirtyPaths: (paths) => person.ask('editor/dirty', { paths: [...paths] }),
      projects,
      consents,
      ripgrep: findRipgrep(null),
      editorProblems: (root) => person.ask('editor/problems', { root }),
      editorSymbols: (path) => person.ask('editor/symbols', { path }),
    }),
    ...createRunTools({
      projects,
      open: () => opened,
      review: (root) => consents.review(root),
      projectKey,
      scheduler: { setTimer },
    }),
    ...createShellTools({
      gate,
      journal: () => journal,
      dirtyPaths: (paths) => person.ask('editor/dirty', { paths: [...paths] }),
      script: join(programs, 'shell-worker.mjs'),
      hasInternet: shellInternet,
      record,
      now,
      setTimer,
      runner: () => opened.runner,
      blobs: () => opened.blobs,
      changeMark: (root) =>
        journal.entries.list(root, undefined, Number.MAX_SAFE_INTEGER, 1)[0]?.id ?? 'unchanged',
      createId: randomName,
    }),
    ...createNetTools({ record, now, createBorder: randomName }),
    ...createVaultTools({ projects, person }),
    ...createPersonTools({
      ask: async ({ conversation, question, choices }, signal) => {
        const asked = {
          conversation,
          conversationTitle: titleOf(conversation),
          question,
          choices: [...choices],
        };
        return (await person.ask('person/ask', asked, signal)).answer;
      },
    }),
  ];
}

function randomName(): string {
  return randomBytes(12).toString('hex');
}

/** The lists that exactly these tools fill. */
function listsOf(tools: readonly Tool[]): Record<Tool['list'], readonly string[]> {
  const named = (list: Tool['list']) => tools.filter((tool) => tool.list === list).map(({ name }) => name);
  return { ordinary: named('ordinary'), perCall: named('perCall') };
}

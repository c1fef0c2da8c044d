import { randomBytes } from 'node:crypto';
import type { ToolMaterials } from './agentServices.ts';
import { toolLists } from './catalog.ts';
import { createNetTools, type NetToolDeps } from './tools/netTools.ts';
import { createPersonTools } from './tools/personTools.ts';
import type { RunToolDeps } from './tools/runServices.ts';
import { createRunTools } from './tools/runTools.ts';
import type { Tool } from './tools/tool.ts';

export interface AgentToolDeps {
  readonly runs: RunToolDeps;
  readonly record: NetToolDeps['record'];
  readonly now: () => number;
}

/** Every tool of an agent, made from the services of this engine. */
export function createAgentTools(
  { runs, record, now }: AgentToolDeps,
  materials: ToolMaterials,
): readonly Tool[] {
  const { person, titleOf } = materials;
  return [
    ...createRunTools(runs),
    ...createNetTools({ record, now, createBorder: () => randomBytes(12).toString('hex') }),
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

/** The part of the lists that these tools fill. */
export function listsOf(tools: readonly Tool[]): Record<Tool['list'], readonly string[]> {
  const names = new Set(tools.map(({ name }) => name));
  return {
    ordinary: toolLists.ordinary.filter((name) => names.has(name)),
    perCall: toolLists.perCall.filter((name) => names.has(name)),
  };
}

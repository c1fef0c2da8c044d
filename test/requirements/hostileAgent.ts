import type { Requirement } from '../requirements.ts';

/** What is promised of a model that means harm. */
export const hostileAgentRequirements: readonly Requirement[] = [
  {
    id: 'ATTACK-01',
    text: 'An attack by the model ends in a question in Sallyport’s words or in a refusal, and nothing of it is done.',
    source: 'docs/floor.md, Rule 2',
  },
  {
    id: 'ATTACK-02',
    text: 'No effect of the agent’s code is reachable but through the gate.',
    source: 'docs/floor.md, Approvals',
  },
  {
    id: 'ATTACK-03',
    text: 'A key is nowhere but in the request that it belongs to, in no encoding.',
    source: 'docs/floor.md, Rule 4',
  },
  {
    id: 'ATTACK-04',
    text: 'A person is shown every argument of a call, whatever its tool shows.',
    source: 'docs/floor.md, Approvals',
  },
];

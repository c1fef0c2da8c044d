import type { Connection } from '../../../protocol/src/agent.ts';
import type { KeyHeader } from '../keys/keyVault.ts';

export type ConnectionKind = Connection['kind'];
/** The kinds that are reached over the network by the broker. */
export type NetworkKind = Exclude<ConnectionKind, 'vscode'>;

/** What is known of a wire format. */
export interface KindFacts {
  /** Its usual base address; empty where a person types it. */
  readonly base: string;
  readonly keyHeader: KeyHeader;
  readonly key: 'needed' | 'optional' | 'none';
  /** Headers that every request carries. */
  readonly headers: Readonly<Record<string, string>>;
  /** The paths below the base that the engine may post to: the ones that the model is asked at. */
  readonly paths: readonly string[];
  /** Where the models are listed, below the base, with a fixed query. */
  readonly modelsPath: string;
}

/** What apps may be made besides text, at OpenAI's API and those like it. */
const madeForApps = ['embeddings', 'images/generations', 'audio/speech'] as const;

const bearer: KeyHeader = { name: 'authorization', prefix: 'Bearer ' };

export const connectionKindFacts: Readonly<Record<NetworkKind, KindFacts>> = {
  anthropic: {
    base: 'https://api.anthropic.com/v1',
    keyHeader: { name: 'x-api-key', prefix: '' },
    key: 'needed',
    headers: { 'anthropic-version': '2023-06-01' },
    paths: ['messages'],
    modelsPath: 'models?limit=1000',
  },
  openai: {
    base: 'https://api.openai.com/v1',
    keyHeader: bearer,
    key: 'needed',
    headers: {},
    paths: ['responses', ...madeForApps],
    modelsPath: 'models',
  },
  'openai-compatible': {
    base: '',
    keyHeader: bearer,
    key: 'optional',
    headers: {},
    paths: ['chat/completions', ...madeForApps],
    modelsPath: 'models',
  },
  ollama: {
    base: 'http://127.0.0.1:11434/api',
    keyHeader: bearer,
    key: 'none',
    headers: {},
    paths: ['chat', 'embed'],
    modelsPath: 'tags',
  },
};

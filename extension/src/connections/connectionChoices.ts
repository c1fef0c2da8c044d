import type { QuickPickItem } from 'vscode';
import { connectWords } from '../agentMessages.ts';
import { connectionKindFacts, type ConnectionKind } from './connectionKinds.ts';

/** What was found on this machine when a person opened the list. Undefined: not known yet. */
export interface Found {
  readonly ollamaModels: number | null | undefined;
  readonly vscodeModels: number | undefined;
}

export interface KindItem extends QuickPickItem {
  readonly connect: ConnectionKind;
}

/** The lines of the first step. What VS Code already offers comes first: it needs no key. */
export function kindItems({ ollamaModels, vscodeModels }: Found): KindItem[] {
  return [
    {
      connect: 'vscode',
      label: connectWords.kind('vscode'),
      description: vscodeModels === undefined ? connectWords.looking() : connectWords.offered(vscodeModels),
      detail: connectWords.vscodeDetail(),
    },
    remote('anthropic'),
    remote('openai'),
    {
      connect: 'openai-compatible',
      label: connectWords.kind('openai-compatible'),
      detail: connectWords.compatibleDetail(),
    },
    {
      connect: 'ollama',
      label: connectWords.kind('ollama'),
      description:
        ollamaModels === undefined
          ? connectWords.looking()
          : ollamaModels === null
            ? connectWords.ollamaMissing()
            : connectWords.ollamaFound(ollamaModels),
      detail: connectWords.ollamaDetail(),
    },
  ];
}

function remote(kind: 'anthropic' | 'openai'): KindItem {
  return {
    connect: kind,
    label: connectWords.kind(kind),
    detail: connectWords.remoteDetail(new URL(connectionKindFacts[kind].base).host),
  };
}

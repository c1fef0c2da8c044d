import type { Grant } from '../../extension/src/vault/core/grants.ts';
import type { FieldDraft, ItemDraft } from '../../extension/src/vault/core/items.ts';
import { createAgentsVault, type AgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import {
  createPersonalVault,
  type SealedPersonalVault,
} from '../../extension/src/vault/core/personalVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';

/** A real agents' vault in a folder, without a counter. The caller locks it. */
export async function sampleAgentsVault(folder: string): Promise<AgentsVault> {
  using deviceKey = Secret.own(Buffer.alloc(32, 3));
  return (await createAgentsVault({ folder, counters: null }, deviceKey)).vault;
}

export async function samplePersonalVault(folder: string): Promise<SealedPersonalVault> {
  using password = Secret.fromText('correct horse battery');
  return (await createPersonalVault({ folder, counters: null }, password)).vault;
}

/** A draft of an item whose fields have these values. */
export function sampleDraft(
  id: string,
  values: Readonly<Record<string, string>>,
  more: Partial<ItemDraft> = {},
): ItemDraft {
  const fields = Object.entries(values).map(([name, value]): FieldDraft => ({
    name,
    kind: 'secret',
    value: Secret.fromText(value),
  }));
  return {
    id,
    baseVersion: 0,
    title: id.toUpperCase(),
    kind: 'token',
    fields,
    hosts: [],
    tags: [],
    expiresAt: null,
    ...more,
  };
}

/** What a card asks for: a value as a header for one host. */
export const sampleWish = {
  item: 'api',
  field: 'value',
  principal: 'card:fetch',
  scope: 's'.repeat(64),
  use: { kind: 'header', hosts: ['api.example.org'], name: 'authorization', prefix: 'Bearer ' },
  limits: { count: null, until: null },
  reason: '',
} as const satisfies Omit<Grant, 'id' | 'itemVersion' | 'state' | 'askedAt' | 'answeredAt' | 'used'>;

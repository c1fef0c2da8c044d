import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { permissionsOfCard } from '../../../../protocol/src/permissions.ts';
import type { VaultWish } from '../../../../protocol/src/vault.ts';
import { parseVaultUse, vaultUseWords } from '../../../../protocol/src/vaultUse.ts';
import type { Projects } from '../../project/model.ts';
import type { PersonSide } from '../providers/personSide.ts';
import { about, defineTool, thing } from './defineTool.ts';
import type { Tool } from './tool.ts';

export interface VaultToolDeps {
  readonly projects: Pick<Projects, 'refresh'>;
  readonly person: PersonSide;
}

const id = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/));

const askInput = z.strictObject({
  card: about('The id of the card that is to get the value.', id),
  item: about('The id of the vault item, as vault_names tells it.', id.check()),
  field: about('The field of the item.', id.check()),
  reason: about(
    'One sentence for the person: what the card does with it.',
    z.string().check(z.minLength(1), z.maxLength(500)),
  ),
});

/** `vault_names`, `vault_ask`. A value never comes this way: it goes from the vault to where it is used. */
export function createVaultTools({ projects, person }: VaultToolDeps): readonly Tool[] {
  return [
    defineTool({
      name: 'vault_names',
      description:
        'Lists what is in the person’s vault by id: items, their fields, and the hosts that they are for. Values are never told.',
      input: z.strictObject({}),
      list: 'ordinary',
      effect: 'read',
      async prepare() {
        return {
          args: {},
          permissions: [],
          measure: async () => [thing('usage', 'the names in the vault', null)],
          describe: () => ({ title: 'List the names in the vault', lines: [], fullText: null }),
          async run(signal) {
            const names = await person.ask('vault/names', {}, signal);
            const lines = names.map(
              ({ item, title, kind, fields, hosts }) =>
                `${item} (${kind}, ${JSON.stringify(title)}): fields ${fields.join(', ')}${hosts.length > 0 ? `; for ${hosts.join(', ')}` : ''}`,
            );
            const text = lines.length > 0 ? lines.join('\n') : 'There is nothing in an open vault.';
            return { text, isError: false };
          },
        };
      },
    }),
    defineTool({
      name: 'vault_ask',
      description:
        'Asks the person to let a card use a vault value. First write the use into the card’s permissions.vault with project_save; this then asks for exactly that. The answer is the person’s and may come later: go on meanwhile. You are never told the value.',
      input: askInput,
      list: 'ordinary',
      effect: 'askVault',
      async prepare({ card, item, field, reason }, { root, scope }) {
        const wishes = wishesOf(projects, root, card, item, field);
        const uses = wishes.map(({ use }) => `${field} of ${item}, ${vaultUseWords(use)}`);
        return {
          args: { card, item, field, reason, uses },
          // The vault asks for what no grant covers; one question, and its answer alone releases anything.
          permissions: [],
          measure: async () => [],
          describe: () => ({
            title: `Ask for a vault value for the card ${card}`,
            lines: [...uses, reason],
            fullText: null,
          }),
          async run(signal) {
            const principal = `card:${card}`;
            const answers = [];
            for (const wish of wishes) {
              const { state } = await person.ask('vault/ask', { principal, scope, wish, reason }, signal);
              answers.push(`${wish.field} of ${wish.item}, ${vaultUseWords(wish.use)}: ${stateWords[state]}`);
            }
            return { text: answers.join('\n'), isError: false };
          },
        };
      },
    }),
  ];
}

const stateWords = {
  pending: 'it waits for the person’s answer. Until then the card does not start.',
  accepted: 'the person has granted it.',
  declined: 'the person has declined it.',
} as const;

/** What the card's own manifest asks of this field. Throws what to do first. */
function wishesOf(
  projects: Pick<Projects, 'refresh'>,
  root: string,
  card: string,
  item: string,
  field: string,
): VaultWish[] {
  const manifest = projects.refresh(root).cards.get(card)?.manifest;
  if (!manifest)
    throw new UserError('not-found', `There is no sound card ${card}. Nothing was asked.`, { card });
  const wishes = permissionsOfCard(manifest).flatMap((asked) => {
    const use = asked.name === 'vaultItem' ? parseVaultUse(asked.use) : undefined;
    return asked.name === 'vaultItem' && use && asked.item === item && asked.field === field
      ? [{ item, field, use }]
      : [];
  });
  if (wishes.length > 0) return wishes;
  throw new UserError(
    'not-found',
    `The card ${card} does not ask for ${field} of ${item}. Write it into its permissions.vault with project_save first, for example { "item": "${item}", "field": "${field}", "use": { "type": "header", "hosts": ["api.example.org"], "name": "authorization", "prefix": "Bearer " } }. Nothing was asked.`,
    { card },
  );
}

import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CardManifest } from '../../protocol/src/manifests.ts';

/** A card to write: what differs from an ordinary sealed one with the single output `out`. */
export type CardDraft = Partial<CardManifest> & { readonly code?: string };

/** Writes a project of these cards below `root` and returns `root`. */
export function writeProject(root: string, cards: Readonly<Record<string, CardDraft>>): string {
  mkdirSync(root, { recursive: true });
  writeFileSync(
    join(root, 'sallyport.json'),
    JSON.stringify({ version: 1, name: 'made', cards: ['cards/*'] }),
  );
  for (const [id, card] of Object.entries(cards)) writeCard(root, id, card);
  return root;
}

/** Writes one card anew. */
export function writeCard(root: string, id: string, { code = `print("${id}")\n`, ...card }: CardDraft): void {
  const folder = join(root, 'cards', id);
  mkdirSync(folder, { recursive: true });
  const manifest = {
    version: 1,
    title: `Card ${id}`,
    runtime: 'python',
    entry: 'main.py',
    outputs: { out: { type: 'text' } },
    ...card,
  };
  writeFileSync(join(folder, '_card.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'main.py'), code);
}

/** Inputs named after the cards that they come from. */
export function inputsFrom(...cards: readonly string[]): NonNullable<CardManifest['inputs']> {
  return Object.fromEntries(cards.map((card) => [card, { type: 'text' as const, from: `${card}/out` }]));
}

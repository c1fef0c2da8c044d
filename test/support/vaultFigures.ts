import { createAgentsVault, openAgentsVault } from '../../extension/src/vault/core/agentsVault.ts';
import { Secret } from '../../extension/src/vault/core/secret.ts';
import { loginDraft } from './vaultHarness.ts';

/**
 * Figures of a large vault in a process of its own, so that its memory is its own: makes one of COUNT items in FOLDER,
 * or opens it, lists it, and prints `{ openMs, listMs, addedMB }`.
 *
 *     node vaultFigures.ts FOLDER make|open COUNT
 */
const [folder = '', act = '', count = ''] = process.argv.slice(2);
const key = Secret.own(Buffer.alloc(32, 7));
const place = { folder, counters: null };
if (act === 'make') {
  const { vault } = await createAgentsVault(place, key);
  const size = 5000;
  for (let from = 0; from < Number(count); from += size)
    await vault.saveAll(
      Array.from({ length: Math.min(size, Number(count) - from) }, (_, at) =>
        loginDraft(`item-${from + at}`, `password of ${from + at}`),
      ),
    );
} else {
  const before = process.memoryUsage().rss;
  const startedAt = performance.now();
  const result = await openAgentsVault(place, key);
  if (result.state !== 'open') throw new Error(result.state);
  const openedAt = performance.now();
  if (result.vault.list().length !== Number(count)) throw new Error('not all are listed');
  const listedAt = performance.now();
  process.stdout.write(
    JSON.stringify({
      openMs: openedAt - startedAt,
      listMs: listedAt - openedAt,
      addedMB: (process.memoryUsage().rss - before) / 1e6,
    }),
  );
}

import { emptyIndex, put, rank, remove } from './ranking.js';

const indexPath = 'search/index.json';

/** The number of notes in the index after `path` was read anew. A note that is gone leaves it. */
export async function add({ path }, { storage }) {
  const index = await load(storage);
  const text = await storage.get(path);
  if (text === undefined) remove(index, path);
  else put(index, path, text);
  await storage.put(indexPath, JSON.stringify(index));
  return Object.keys(index.lengths).length;
}

export async function find({ query }, { storage }) {
  return rank(await load(storage), query).slice(0, 50);
}

/** The index as it is stored; built from the notes where it is not there or not readable. */
async function load(storage) {
  try {
    const index = JSON.parse((await storage.get(indexPath)) ?? 'null');
    if (index?.version === 1) return index;
  } catch {
    // Built anew below.
  }
  const index = emptyIndex();
  for (const { path } of await storage.list('notes/')) put(index, path, (await storage.get(path)) ?? '');
  return index;
}

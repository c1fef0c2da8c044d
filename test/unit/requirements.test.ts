import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Requirement } from '../requirements.ts';

const root = join(import.meta.dirname, '..', '..');
const requirements = await loadRequirements();
const cited = citations();

describe('requirements', () => {
  it('are there, each with an id of its own', () => {
    assert.ok(requirements.length > 0);
    const ids = requirements.map(({ id }) => id);
    assert.deepEqual(ids, [...new Set(ids)]);
  });

  it('are all cited by a test', () => {
    assert.deepEqual(
      requirements.filter(({ id }) => !cited.has(id)).map(({ id, text }) => `${id}: ${text}`),
      [],
    );
  });

  it('are the only ones that tests cite', () => {
    const known = new Set(requirements.map(({ id }) => id));
    assert.deepEqual(
      [...cited].filter((id) => !known.has(id)),
      [],
    );
  });

  it('name a file that is there and a heading in it', () => {
    assert.deepEqual(
      requirements.filter(({ source }) => !isFound(source)).map(({ id, source }) => `${id}: ${source}`),
      [],
    );
  });
});

async function loadRequirements(): Promise<Requirement[]> {
  const folder = join(root, 'test', 'requirements');
  const lists: Requirement[] = [];
  for (const file of readdirSync(folder)) {
    const module = (await import(join(folder, file))) as Record<string, readonly Requirement[]>;
    for (const list of Object.values(module)) lists.push(...list);
  }
  return lists;
}

/** Ids in square brackets in the titles of tests: `it('[AREA-NN] …')`. */
function citations(): Set<string> {
  const ids = new Set<string>();
  for (const entry of readdirSync(join(root, 'test'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !/\.(ts|mjs|json)$/.test(entry.name)) continue;
    const path = join(entry.parentPath, entry.name);
    if (path.includes(join('test', 'requirements'))) continue;
    for (const [, id] of readFileSync(path, 'utf8').matchAll(/\[([A-Z][A-Z0-9]{1,11}-[0-9]{2})\]/g))
      if (id) ids.add(id);
  }
  return ids;
}

/** `docs/formats.md, Permissions` or `docs/formats.md#permissions`: the file, and the beginning of a heading or nothing. */
function isFound(source: string): boolean {
  const [file = '', title = ''] = source.split(/, |#/, 2).map((part) => part.trim());
  const path = join(root, file);
  if (!existsSync(path)) return false;
  const headings = readFileSync(path, 'utf8')
    .split('\n')
    .filter((line) => /^#+ /.test(line))
    .map((line) => slug(line.replace(/^#+ /, '')));
  return title === '' || headings.some((heading) => heading.startsWith(slug(title)));
}

function slug(title: string): string {
  return title
    .toLowerCase()
    .replace(/[^\p{L}\p{N} -]/gu, '')
    .replaceAll(' ', '-');
}

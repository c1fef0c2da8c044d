import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..', '..', '..');

interface Manifest {
  readonly devDependencies: Readonly<Record<string, string>>;
}

describe('DEPENDENCIES.md', () => {
  const { devDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Manifest;
  const packages = Object.keys(devDependencies);
  const rows = readFileSync(join(root, 'DEPENDENCIES.md'), 'utf8').matchAll(/^\| (`[^|]+) \|/gm);
  const named = [...rows].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  );

  it('has a line for each package, and none for another', () => {
    const isTypes = (name: string) => name.startsWith('@types/');
    const wanted = [...packages.filter((name) => !isTypes(name)), '@types/*'];
    assert.ok(wanted.length > 40, 'the list is there');
    assert.deepEqual(named.filter((name) => name !== 'zod/mini').sort(), wanted.sort());
  });

  it('promises exact versions, and package.json has them', () => {
    const loose = Object.entries(devDependencies).filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version));
    assert.deepEqual(loose, []);
  });
});

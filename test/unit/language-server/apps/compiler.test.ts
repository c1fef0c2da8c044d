import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FetchPackages } from '../../../../language-server/src/apps/packages/fetchPackages.ts';
import { createBundler } from '../../../../language-server/src/apps/page/bundler.ts';
import { compilerPackage, createReadCompiler } from '../../../../language-server/src/apps/page/compiler.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const root = join(import.meta.dirname, '../../../..');

describe('the compiler of apps', () => {
  const folder = useTemporaryFolder();

  it('is the one that this repository’s lock file names, byte for byte', () => {
    const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
      packages: Record<string, { version: string; integrity: string }>;
    };
    const { name, version, integrity, place } = compilerPackage;
    assert.equal(place, `node_modules/${name}`);
    assert.deepEqual(
      { version, integrity },
      {
        version: packages[place]?.version,
        integrity: packages[place]?.integrity,
      },
    );
  });

  it('is taken from a build of our own where it is there, else brought by its digest', async () => {
    const asked: unknown[] = [];
    const fetchPackages: FetchPackages = async (packages) => {
      asked.push(...packages);
      return {
        has: () => true,
        read: (path) => new TextEncoder().encode(path),
      };
    };
    const builtIn = join(folder(), 'esbuild.wasm');
    const read = createReadCompiler(builtIn, fetchPackages);
    assert.equal(new TextDecoder().decode(await read()), 'node_modules/esbuild-wasm/esbuild.wasm');
    assert.deepEqual(asked, [compilerPackage]);
    writeFileSync(builtIn, 'built');
    assert.equal(new TextDecoder().decode(await read()), 'built');
    assert.equal(asked.length, 1);
  });

  it('says what it is needed for where it can’t be brought', async () => {
    const read = createReadCompiler(join(folder(), 'none'), async () => {
      throw new UserError('unreachable', 'No registry.');
    });
    await assert.rejects(read(), {
      code: 'unreachable',
      message: /from modules.*needed once: No registry\./,
    });
    const refused = createReadCompiler(join(folder(), 'none'), async () => {
      throw new UserError('conflict', 'Other bytes.');
    });
    await assert.rejects(refused(), { code: 'conflict', message: 'Other bytes.' });
  });

  it('is waited for by each build alone: one that is stopped takes it from no other', async () => {
    let fail: (error: Error) => void = () => undefined;
    const waiting = new Promise<Uint8Array>((_resolve, reject) => (fail = reject));
    const bundle = createBundler({ script: join(folder(), 'none.mjs'), readCompiler: () => waiting });
    const files = { has: () => false, read: () => new Uint8Array() };
    const stop = new AbortController();
    const entry = { kind: 'file', path: 'main.ts' } as const;
    const stopped = bundle(entry, files, stop.signal);
    const other = bundle(entry, files, new AbortController().signal);
    stop.abort();
    await assert.rejects(stopped, { code: 'cancelled' });
    fail(new UserError('unreachable', 'Gone.'));
    await assert.rejects(other, { code: 'unreachable' });
  });
});

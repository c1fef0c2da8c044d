import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { hash } from 'node:crypto';
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import type { ArtifactRef, TreeEntry } from '../../../../protocol/src/artifacts.ts';
import { createBlobStore, type BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { captureFolder } from '../../../../remote-agent/src/files/captureTree.ts';
import { materialize } from '../../../../remote-agent/src/files/materialize.ts';
import { createPace } from '../../../../remote-agent/src/files/pace.ts';
import { mountSmallDisk } from '../../../support/smallDisk.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

describe('materialize', () => {
  const temporary = useTemporaryFolder();
  let store: BlobStore;
  beforeEach(() => {
    store = createBlobStore(join(temporary(), 'blobs'));
  });
  const target = (...parts: string[]): string => join(temporary(), 'target', ...parts);
  const freeze = (files: Readonly<Record<string, string>>): Promise<ArtifactRef> => {
    const source = join(temporary(), 'source');
    mkdirSync(source);
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(source, path)), { recursive: true });
      if (path.endsWith('/')) mkdirSync(join(source, path));
      else writeFileSync(join(source, path), content, { mode: path.endsWith('.sh') ? 0o755 : 0o644 });
    }
    return captureFolder(source, store);
  };
  const list = (...entries: TreeEntry[]): ArtifactRef => {
    const blob = store.putBytes(Buffer.from(JSON.stringify({ version: 1, entries })));
    return { kind: 'directory', ...blob, files: entries.length };
  };
  const file = (path: string, content = 'x'): TreeEntry => ({
    kind: 'file',
    path,
    ...store.putBytes(Buffer.from(content)),
    executable: false,
  });

  it('writes a folder that is equal to the frozen one', async () => {
    const ref = await freeze({ 'a.txt': 'a', 'b/c/d.sh': 'true', 'b/e': '', 'empty/inner/': '' });
    await materialize(store, ref, target());
    assert.equal(readFileSync(target('a.txt'), 'utf8'), 'a');
    assert.equal(statSync(target('b/e')).size, 0);
    assert.deepEqual(readdirSync(target('empty/inner')), []);
    assert.deepEqual(await captureFolder(target(), store), ref);
  });

  it('writes any tree so that capturing gives it back', async () => {
    const name = fc.constantFrom('a', 'b', 'C', 'd.txt', 'ü', '.x', ' ', '-rf', 'a\nb');
    const path = fc.array(name, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    let round = 0;
    await fc.assert(
      fc.asyncProperty(fc.dictionary(path, fc.string({ maxLength: 5 }), { maxKeys: 6 }), async (files) => {
        const paths = Object.keys(files).sort();
        fc.pre(!paths.some((each) => paths.some((other) => other.startsWith(`${each}/`))));
        const ref = list(...paths.map((each) => file(each, files[each])));
        const folder = join(temporary(), `round-${(round += 1)}`);
        await materialize(store, ref, folder);
        assert.equal((await captureFolder(folder, store)).files, paths.length);
        for (const each of paths) assert.equal(readFileSync(join(folder, each), 'utf8'), files[each]);
      }),
      { numRuns: 50 },
    );
  });

  const modes = [
    { writable: false, plain: 0o444, executable: 0o555 },
    { writable: true, plain: 0o644, executable: 0o755 },
  ];
  for (const { writable, plain, executable } of modes) {
    it(`gives files the modes of ${writable ? 'writable' : 'read-only'} ones, whatever the umask`, async () => {
      const ref = await freeze({ plain: 'x', 'run.sh': 'true' });
      const before = process.umask(0o077);
      try {
        await materialize(store, ref, target(), { writable });
      } finally {
        process.umask(before);
      }
      const mode = (name: string): number => statSync(target(name)).mode & 0o7777;
      assert.deepEqual([mode('plain'), mode('run.sh')], [plain, executable]);
    });
  }

  it('[FILES-06] copies: writing to what was written changes no stored result', async () => {
    const ref = await freeze({ file: 'original', large: 'y'.repeat(2_000_000) });
    await materialize(store, ref, target(), { writable: true });
    for (const name of ['file', 'large']) {
      assert.equal(lstatSync(target(name)).isSymbolicLink(), false);
      assert.equal(statSync(target(name)).nlink, 1);
      writeFileSync(target(name), 'changed');
    }
    for (const { digest } of store.list()) assert.equal(await store.verify(digest), true);
  });

  it('writes a single file', async () => {
    const blob = store.putBytes(Buffer.from('alone'));
    await materialize(store, { kind: 'file', ...blob, files: 1 }, target());
    assert.equal(readFileSync(target(), 'utf8'), 'alone');
  });

  it('never writes over or through what is there', async () => {
    const ref = await freeze({ file: 'new' });
    const outside = join(temporary(), 'outside');
    mkdirSync(outside);
    symlinkSync(outside, target());
    await assert.rejects(materialize(store, ref, target()), { code: 'unreadable' });
    unlinkSync(target());
    mkdirSync(target());
    await assert.rejects(materialize(store, ref, target()), { code: 'unreadable' });
    writeFileSync(target('file'), 'old');
    await assert.rejects(materialize(store, ref, target(), { intoExisting: true }), { code: 'conflict' });
    assert.deepEqual(readdirSync(outside), []);
    assert.equal(readFileSync(target('file'), 'utf8'), 'old');
  });

  it('fills a folder that was made before', async () => {
    mkdirSync(target());
    await materialize(store, await freeze({ 'a/b': 'x' }), target(), { intoExisting: true });
    assert.equal(readFileSync(target('a/b'), 'utf8'), 'x');
  });

  it('[FILES-05] writes nothing of a listing that is hostile in its last entry', async () => {
    const ref = list(file('a'), { ...file('b'), path: 'z/../../escaped' });
    await assert.rejects(materialize(store, ref, target()), { code: 'unsafe-path' });
    assert.equal(existsSync(target()), false);
    assert.equal(existsSync(join(temporary(), 'escaped')), false);
  });

  it('[FILES-05] refuses names that the file system takes for one', async function () {
    const folding = join(temporary(), 'folding');
    mkdirSync(folding);
    const mounted = !foldsCase(folding) && mountFolding(folding);
    if (!mounted && !foldsCase(folding)) {
      console.log('      skipped: this file system keeps case apart, and none that folds it can be mounted');
      this.skip();
    }
    try {
      const collisions = [
        [file('README', '1'), file('readme', '2')],
        [file('A/x', '1'), file('a/y', '2')],
        [file('A', '1'), file('a/y', '2')],
      ];
      for (const [index, entries] of collisions.entries()) {
        const place = join(folding, String(index));
        await assert.rejects(materialize(store, list(...entries), place), { code: 'unsafe-path' });
      }
    } finally {
      if (mounted) execFileSync('umount', [folding]);
    }
  });

  it('[FILES-02] notices stored results that are missing, short or no listing', async () => {
    const ref = await freeze({ file: 'content' });
    const { digest } = store.putBytes(Buffer.from('content'));
    truncateSync(store.pathOf(digest), 3);
    await assert.rejects(materialize(store, ref, target('..', '1')), { code: 'store-damaged' });
    writeFileSync(store.pathOf(digest), 'altered');
    await assert.rejects(materialize(store, ref, target('..', '5')), { code: 'store-damaged' });
    store.remove(digest);
    await assert.rejects(materialize(store, ref, target('..', '2')), { code: 'store-damaged' });
    writeFileSync(store.pathOf(ref.digest), '{"version":1,"entries":[]}');
    await assert.rejects(materialize(store, ref, target('..', '3')), { code: 'store-damaged' });
    const missing = { ...ref, digest: hash('sha256', 'none') };
    await assert.rejects(materialize(store, missing, target('..', '4')), { code: 'not-found' });
  });

  it('[FILES-01] says when the disk is full, for files of any size', async function () {
    const ref = await freeze({ small: 'x'.repeat(900_000), more: 'y'.repeat(900_000) });
    const large = store.putBytes(Buffer.alloc(2_000_000, 'z'));
    const disk = join(temporary(), 'small');
    const unmount = mountSmallDisk(disk);
    if (!unmount) this.skip();
    try {
      await assert.rejects(materialize(store, ref, join(disk, 'tree')), { code: 'disk-full' });
      const file = { kind: 'file', ...large, files: 1 } as const;
      await assert.rejects(materialize(store, file, join(disk, 'file')), { code: 'disk-full' });
    } finally {
      unmount();
    }
  });

  it('is cancelled', async () => {
    const ref = await freeze({ file: 'content' });
    const pace = createPace(AbortSignal.abort());
    await assert.rejects(materialize(store, ref, target(), { pace }), { code: 'cancelled' });
  });

  it('gives everything to another user where it is told to', async function () {
    if (process.getuid?.() !== 0) {
      console.log('      skipped: only root gives files away');
      this.skip();
    }
    const ref = await freeze({ 'a/b': 'x' });
    await materialize(store, ref, target(), { owner: { uid: 4321, gid: 4322 } });
    for (const path of ['', 'a', 'a/b']) {
      const { uid, gid } = statSync(target(path));
      assert.deepEqual([uid, gid], [4321, 4322], path);
    }
  });
});

function foldsCase(folder: string): boolean {
  writeFileSync(join(folder, 'case'), '');
  return existsSync(join(folder, 'CASE'));
}

/** Mounts a file system that folds case, where the kernel has one and this user may. */
function mountFolding(folder: string): boolean {
  const script =
    'mount -t tmpfs -o size=1m,casefold tmpfs "$1" && { chattr +F "$1" || { umount "$1"; false; }; }';
  return spawnSync('sh', ['-c', script, 'sh', folder]).status === 0;
}

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { gunzipSync, gzipSync } from 'node:zlib';
import { spawnSystemTool } from '../../../../language-server/src/environment.ts';
import { archiveLine, exportImage } from '../../../../language-server/src/runners/vm/exportImage.ts';
import { importImage } from '../../../../language-server/src/runners/vm/importImage.ts';
import { imageFiles, openVmFolder } from '../../../../language-server/src/runners/vm/vmFolder.ts';
import { imageFault } from '../../../../language-server/src/runners/vm/vmHandlers.ts';
import {
  contentDigest,
  imageVersion,
  readImage,
  type VmImage,
} from '../../../../language-server/src/runners/vm/vmImage.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const never = new AbortController().signal;
const image: VmImage = {
  version: imageVersion,
  id: 'abc',
  runnerDigest: 'r',
  builtAt: 1,
  sizeBytes: 2,
  node: 'v24.0.0',
  architecture: 'x64',
  packages: [{ name: 'bash', version: '5', sizeBytes: 1, licences: ['GPL-3+'] }],
};
const diskBytes = 64 * 1024 * 1024;

describe('an image as a file', () => {
  const folder = useTemporaryFolder();
  let file = '';

  beforeEach(() => {
    const { image: at } = openVmFolder(join(folder(), 'here'));
    mkdirSync(at);
    const files = imageFiles(at);
    writeFileSync(files.kernel, 'kernel');
    writeFileSync(files.initrd, Buffer.alloc(200_000, 7));
    writeFileSync(files.root, 'begin');
    truncateSync(files.root, 20_000_000);
    writeFileSync(files.root, 'end', { flag: 'r+' });
    const disk = Buffer.alloc(10_000_001);
    disk.write('middle', 5_000_000);
    disk.write('!', 10_000_000);
    writeFileSync(files.disk, disk);
    file = join(folder(), 'image.vm');
  });

  const write = (more: { signal?: AbortSignal; image?: VmImage } = {}) =>
    exportImage({
      folder: join(folder(), 'here/vm/image'),
      image,
      file,
      spawnTool: spawnSystemTool,
      signal: never,
      onStep: () => undefined,
      ...more,
    });
  const read = (accept: string | undefined, more: Partial<Parameters<typeof importImage>[0]> = {}) =>
    importImage({
      folder: openVmFolder(join(folder(), 'there')),
      file,
      accept,
      fault: () => undefined,
      diskBytes,
      signal: never,
      ...more,
    });
  const there = () => openVmFolder(join(folder(), 'there'));
  const left = () => readdirSync(there().path).filter((name) => name.startsWith('import-'));

  it('[VM-33] comes in as it was, where a person accepted its digest, with holes for what is empty', async () => {
    const { digest, sizeBytes } = await write();
    assert.equal(digest, createHash('sha256').update(readFileSync(file)).digest('hex'));
    assert.equal(sizeBytes, statSync(file).size);
    assert.ok(sizeBytes < 10_000);
    const told = await read(undefined);
    assert.deepEqual([told.digest, told.isInstalled, told.image], [digest, false, image]);
    assert.equal(readImage(there().image), undefined);
    assert.equal((await read(digest)).isInstalled, true);
    assert.deepEqual(readImage(there().image), image);
    const [from, to] = [imageFiles(join(folder(), 'here/vm/image')), imageFiles(there().image)];
    for (const name of ['kernel', 'initrd', 'root', 'disk'] as const)
      assert.ok(readFileSync(from[name]).equals(readFileSync(to[name])), name);
    assert.ok(statSync(to.root).blocks * 512 < 1_000_000);
    assert.deepEqual(left(), []);
  });

  it('[VM-33] is not taken in under another digest, and what was there stays', async () => {
    const { digest } = await write();
    await read(digest);
    const before = readFileSync(imageFiles(there().image).kernel, 'utf8');
    for (const accept of [
      digest.replace(/^./, (first) => (first === '0' ? '1' : '0')),
      '',
      digest.toUpperCase(),
    ])
      assert.equal((await read(accept)).isInstalled, false, accept);
    const changed = readFileSync(file);
    changed[changed.length - 1] = (changed.at(-1) ?? 0) ^ 1;
    writeFileSync(file, changed);
    await read(digest).then(
      ({ isInstalled }) => assert.equal(isInstalled, false),
      (error: unknown) => assert.equal((error as UserError).code, 'bad-message'),
    );
    assert.equal(readFileSync(imageFiles(there().image).kernel, 'utf8'), before);
    assert.deepEqual(left(), []);
  });

  it('is refused where this computer can’t use it, and nothing is unpacked', async () => {
    const { digest } = await write();
    const fault = () => new UserError('incompatible', 'no');
    await assert.rejects(read(digest, { fault }), { code: 'incompatible' });
    assert.equal(existsSync(there().image), false);
    const runner = join(folder(), 'runner.cjs');
    writeFileSync(runner, '');
    const own = { ...image, runnerDigest: contentDigest(runner) };
    assert.equal(imageFault(own, runner, 'x64'), undefined);
    assert.equal(imageFault(own, runner, 'arm64')?.code, 'incompatible');
    assert.equal(imageFault(image, runner, 'x64')?.code, 'incompatible');
  });

  it('is refused where a kernel of arm64 is compressed', async () => {
    const arm = { ...image, architecture: 'arm64' };
    const { digest } = await write({ image: arm });
    await assert.rejects(read(digest), { code: 'incompatible', message: /compressed/ });
    const kernel = Buffer.alloc(100);
    kernel.write('ARM\x64', 56, 'latin1');
    writeFileSync(imageFiles(join(folder(), 'here/vm/image')).kernel, kernel);
    file = join(folder(), 'other.vm');
    assert.equal((await read((await write({ image: arm })).digest)).isInstalled, true);
  });

  const record = (offset: number, length: number, bytes = '') => {
    const head = Buffer.alloc(12);
    head.writeBigUInt64BE(BigInt(offset));
    head.writeUInt32BE(length, 8);
    return Buffer.concat([head, Buffer.from(bytes)]);
  };
  const headOf = (sizes: number[]) => Buffer.from(`${archiveLine}${JSON.stringify({ image, sizes })}\n`);
  const ends = [record(0, 0), record(0, 0), record(0, 0)];
  const bad: readonly (readonly [what: string, content: () => Buffer])[] = [
    ['something else', () => gzipSync('hello')],
    ['nothing', () => Buffer.alloc(0)],
    ['no gzip', () => Buffer.from('x'.repeat(1000))],
    ['another heading', () => gzipSync(`${archiveLine}{"image":{}}\n`)],
    ['a heading without an end', () => gzipSync(archiveLine + 'x'.repeat(2_000_000))],
    [
      'a part beyond its file',
      () => gzipSync(Buffer.concat([headOf([4, 4, 4, 4]), record(2, 3, 'abc'), record(0, 0), ...ends])),
    ],
    [
      'parts that overlap',
      () =>
        gzipSync(
          Buffer.concat([
            headOf([9, 4, 4, 4]),
            record(0, 3, 'abc'),
            record(2, 3, 'abc'),
            record(0, 0),
            ...ends,
          ]),
        ),
    ],
    [
      'a part that is too long',
      () =>
        gzipSync(
          Buffer.concat([
            headOf([1_000_000, 4, 4, 4]),
            record(0, 100_000, 'x'.repeat(100_000)),
            record(0, 0),
            ...ends,
          ]),
        ),
    ],
    [
      'a disk that is too large',
      () => gzipSync(Buffer.concat([headOf([4, 4, 4, diskBytes + 1]), record(0, 0), ...ends])),
    ],
    [
      'more after the end',
      () => gzipSync(Buffer.concat([headOf([4, 4, 4, 4]), record(0, 0), ...ends, Buffer.from('x')])),
    ],
    ['an end too early', () => gzipSync(Buffer.concat([headOf([4, 4, 4, 4]), record(0, 0)]))],
  ];
  for (const [what, content] of bad)
    it(`is refused with ${what}, also where that was accepted`, async () => {
      const bytes = content();
      writeFileSync(file, bytes);
      const digest = createHash('sha256').update(bytes).digest('hex');
      await assert.rejects(read(digest), { code: 'bad-message' });
      assert.equal(existsSync(there().image), false);
      assert.deepEqual(left(), []);
    });

  it('is refused where it was cut at any place', async () => {
    await write();
    const whole = readFileSync(file);
    for (let at = 0; at < whole.length; at += Math.ceil(whole.length / 12)) {
      const bytes = whole.subarray(0, at);
      writeFileSync(file, bytes);
      await assert.rejects(
        read(createHash('sha256').update(bytes).digest('hex')),
        { code: 'bad-message' },
        String(at),
      );
    }
  });

  it('is not written over a file, nor half', async () => {
    writeFileSync(file, 'mine');
    await assert.rejects(write(), { code: 'conflict' });
    assert.equal(readFileSync(file, 'utf8'), 'mine');
    file = join(folder(), 'other.vm');
    await assert.rejects(write({ signal: AbortSignal.abort() }), { code: 'cancelled' });
    assert.deepEqual(
      readdirSync(folder()).filter((name) => name.startsWith('other')),
      [],
    );
    await write();
    assert.ok(gunzipSync(readFileSync(file)).toString('latin1').startsWith(archiveLine));
    await assert.rejects(read('x', { signal: AbortSignal.abort() }), { code: 'cancelled' });
    await assert.rejects(read('x', { file: join(folder(), 'gone') }), { code: 'unreadable' });
  });
});

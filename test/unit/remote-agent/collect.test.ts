import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import type { PortType } from '../../../protocol/src/manifests.ts';
import { createBlobStore, type BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import { collectOutputs, openOutputs } from '../../../remote-agent/src/collect.ts';
import { jobWith } from '../../support/jobs.ts';
import { whileSwapping } from '../../support/swapRace.ts';
import { asOrdinaryUser, useTemporaryFolder } from '../../support/temporaryFolder.ts';

describe('collect', () => {
  const temporary = useTemporaryFolder();
  let store: BlobStore;
  let out: string;
  beforeEach(() => {
    store = createBlobStore(join(temporary(), 'blobs'));
    out = join(temporary(), 'out');
    mkdirSync(out);
  });
  const at = (...parts: string[]): string => join(out, ...parts);
  type Ports = Readonly<Record<string, PortType | `${PortType}?`>>;
  const collect = async (ports: Ports, act: () => unknown = () => undefined, signal?: AbortSignal) => {
    const handle = await openOutputs(out);
    try {
      await act();
      const outputs = Object.entries(ports).map(([port, type]) => ({
        port,
        type: type.replace('?', '') as PortType,
        optional: type.endsWith('?'),
      }));
      return await collectOutputs(handle, jobWith({ outputs }), store, signal);
    } finally {
      handle.close();
      handle.close();
    }
  };
  const problemsOf = async (ports: Ports, act: () => unknown) => {
    const { outputs, problems } = await collect(ports, act);
    assert.deepEqual(outputs, {});
    return problems.map(({ port, kind }) => `${port} ${kind}`);
  };

  it('[FILES-07] takes what is declared and reports what is missing', async () => {
    const { outputs, problems } = await collect(
      { table: 'table', folder: 'directory', absent: 'text', maybe: 'text?' },
      () => {
        writeFileSync(at('table'), 'a,b\n1,2\n');
        mkdirSync(at('folder/in'), { recursive: true });
        writeFileSync(at('folder/in/file'), 'x');
      },
    );
    assert.deepEqual(Object.keys(outputs), ['table', 'folder']);
    assert.equal(store.readBytes(outputs['table']!.digest).toString(), 'a,b\n1,2\n');
    assert.deepEqual(
      { ...outputs['folder'], digest: '' },
      { kind: 'directory', digest: '', sizeBytes: 1, files: 1 },
    );
    assert.deepEqual(problems, [{ port: 'absent', kind: 'missing', detail: 'absent: not there' }]);
  });

  it('costs nothing but an empty answer where nothing is declared and nothing is there', async () => {
    assert.deepEqual(await collect({}), { outputs: {}, problems: [] });
    assert.deepEqual([...store.list()], []);
  });

  it('[FILES-07] takes nothing that no port declares, and says so without naming it all', async () => {
    const { outputs, problems } = await collect({ a: 'text' }, () => {
      writeFileSync(at('a'), 'mine');
      symlinkSync('/etc/passwd', at('b'));
      for (let index = 0; index < 500; index += 1) writeFileSync(at(`more-${index}`), 'x');
    });
    assert.deepEqual(Object.keys(outputs), ['a']);
    assert.equal(problems.length, 11);
    assert.ok(problems.every((problem) => problem.kind === 'unexpected'));
    assert.equal(problems.at(-1)?.detail, '491 more entries that no output port names');
    assert.equal([...store.list()].length, 1);
  });

  it('reports a folder that the card locked, and is no failure of this machine', async () => {
    await asOrdinaryUser(temporary(), async () => {
      const problems = await problemsOf({ result: 'text' }, () => chmodSync(out, 0));
      chmodSync(out, 0o700);
      assert.deepEqual(problems, ['result not-regular', '… unexpected']);
    });
  });

  it('shows the names of unexpected entries escaped', async () => {
    const { problems } = await collect({}, () => {
      writeFileSync(Buffer.concat([Buffer.from(at('\x1b[2J')), Buffer.from([0xff])]), '');
    });
    assert.equal(problems[0]?.port, '\\x1b[2J\\xff');
  });

  const hostile: [title: string, make: (path: string) => unknown][] = [
    ['a link to a file', (path) => symlinkSync('/etc/passwd', path)],
    ['a link to a folder', (path) => symlinkSync('/etc', path)],
    ['a link to another output', (path) => symlinkSync('good', path)],
    ['a pipe', (path) => execFileSync('mkfifo', [path])],
    [
      'a hard link to a file outside',
      (path) => {
        writeFileSync(join(temporary(), 'outside'), 'secret');
        linkSync(join(temporary(), 'outside'), path);
      },
    ],
    ['a folder in the place of a file', (path) => mkdirSync(path)],
  ];
  for (const [title, make] of hostile) {
    it(`[FILES-04] refuses ${title} and takes the rest`, async () => {
      const { outputs, problems } = await collect({ bad: 'file', good: 'file' }, () => {
        make(at('bad'));
        writeFileSync(at('good'), 'good');
      });
      assert.deepEqual(Object.keys(outputs), ['good']);
      assert.deepEqual(
        problems.map(({ port, kind }) => [port, kind]),
        [['bad', 'not-regular']],
      );
      assert.ok(
        ![...store.list()].some(({ digest }) => /secret|root:/.test(store.readBytes(digest).toString())),
      );
    });
  }

  it('[FILES-04] refuses a device', async function () {
    if (process.getuid?.() !== 0) {
      console.log('      skipped: only root makes devices');
      this.skip();
    }
    const make = () => execFileSync('mknod', [at('bad'), 'c', '1', '5']);
    assert.deepEqual(await problemsOf({ bad: 'file' }, make), ['bad not-regular']);
  });

  it('[FILES-04] takes a folder whole or not at all', async () => {
    const make = () => {
      mkdirSync(at('folder'));
      writeFileSync(at('folder/fine'), 'fine');
      symlinkSync('fine', at('folder/link'));
    };
    assert.deepEqual(await problemsOf({ folder: 'directory' }, make), ['folder not-regular']);
  });

  it('[FILES-07] refuses a file where a folder was promised', async () => {
    assert.deepEqual(await problemsOf({ d: 'directory' }, () => writeFileSync(at('d'), '')), [
      'd not-regular',
    ]);
  });

  it('[FILES-07] keeps to the size limit over all ports together', async () => {
    const { outputs, problems } = await collect({ a: 'file', b: 'file', c: 'file' }, () => {
      writeFileSync(at('a'), Buffer.alloc(700_000, 'a'));
      writeFileSync(at('b'), Buffer.alloc(700_000, 'b'));
      writeFileSync(at('c'), 'fits');
    });
    assert.deepEqual(Object.keys(outputs), ['a', 'c']);
    assert.deepEqual(
      problems.map(({ port, kind }) => `${port} ${kind}`),
      ['b too-large'],
    );
  });

  it('[FILES-07] refuses a sparse terabyte at once', async () => {
    const make = () => {
      writeFileSync(at('a'), '');
      truncateSync(at('a'), 2 ** 40);
    };
    assert.deepEqual(await problemsOf({ a: 'file' }, make), ['a too-large']);
  });

  it('[FILES-07] stops at too many entries', async () => {
    const make = () => {
      mkdirSync(at('a'));
      const script =
        'import os, sys\nos.chdir(sys.argv[1])\nfor n in range(100001):\n    os.close(os.open(str(n), os.O_CREAT | os.O_WRONLY))';
      execFileSync('python3', ['-c', script, at('a')]);
    };
    assert.deepEqual(await problemsOf({ a: 'directory' }, make), ['a too-large']);
  });

  describe('content', () => {
    const rows: [type: PortType, content: string | Uint8Array, fine: boolean][] = [
      ['json', '{"a":[1,null]}', true],
      ['json', '3', true],
      ['json', '{"a":', false],
      ['json', '', false],
      ['json', 'NaN', false],
      ['json', Buffer.from([0x22, 0xff, 0x22]), false],
      ['vega-lite', '{"mark":"bar"}', true],
      ['vega-lite', '[]', false],
      ['plotly', '{"data":[]}', true],
      ['plotly', 'null', false],
      ['text', 'ü', true],
      ['text', Buffer.from([0xff, 0xfe]), false],
      ['html', '<p>', true],
      ['html', Buffer.from([0xc3]), false],
      ['table', 'PAR1', true],
      ['image', Buffer.from([0x89, 0x50]), true],
      ['file', Buffer.from([0xff]), true],
    ];
    for (const [type, content, fine] of rows) {
      it(`${fine ? 'takes' : 'refuses'} ${JSON.stringify(content.toString())} as ${type}`, async () => {
        const { outputs, problems } = await collect({ a: type }, () => writeFileSync(at('a'), content));
        assert.deepEqual(
          problems.map(({ kind }) => kind),
          fine ? [] : ['invalid'],
        );
        assert.equal('a' in outputs, fine);
      });
    }
  });

  it('[FILES-03] collects from the folder that was opened, not from what took its place', async () => {
    const { outputs, problems } = await collect({ a: 'file' }, () => {
      writeFileSync(at('a'), 'own');
      renameSync(out, join(temporary(), 'moved'));
      symlinkSync('/etc', out);
    });
    rmSync(out);
    assert.deepEqual(problems, []);
    assert.equal(store.readBytes(outputs['a']!.digest).toString(), 'own');
  });

  it('refuses an outputs folder that is a link before anything starts', async () => {
    symlinkSync('/etc', join(temporary(), 'link'));
    await assert.rejects(openOutputs(join(temporary(), 'link')), { code: 'unreadable' });
  });

  it('[FILES-03] never takes what an output is exchanged for meanwhile', async function () {
    if (process.platform !== 'linux') {
      console.log('      skipped: the race is run with renameat2, which is Linux');
      this.skip();
    }
    writeFileSync(at('a'), 'own');
    writeFileSync(join(temporary(), 'secret'), 'secret');
    symlinkSync(join(temporary(), 'secret'), join(temporary(), 'link'));
    const seen = new Set<string>();
    const swaps = await whileSwapping(at('a'), join(temporary(), 'link'), async () => {
      for (let round = 0; round < 2000; round += 1) {
        const { outputs, problems } = await collect({ a: 'file' });
        seen.add(outputs['a'] ? store.readBytes(outputs['a'].digest).toString() : (problems[0]?.kind ?? ''));
      }
    });
    assert.ok(swaps > 100);
    assert.ok(seen.has('own') && seen.has('not-regular'), [...seen].join());
    assert.ok(!seen.has('secret'));
  });

  it('throws what is no fault of the card: a full disk, a cancel', async () => {
    writeFileSync(at('a'), 'x');
    await assert.rejects(collect({ a: 'file' }, undefined, AbortSignal.abort()), { code: 'cancelled' });
    store = createBlobStore(join(temporary(), 'full'), {
      write: () => {
        throw Object.assign(new Error('no space'), { code: 'ENOSPC' });
      },
    });
    await assert.rejects(collect({ a: 'file' }), { code: 'disk-full' });
  });
});

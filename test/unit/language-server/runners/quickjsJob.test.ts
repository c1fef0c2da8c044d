import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { JobOutcome } from '../../../../protocol/src/runner.ts';
import type { CardJob } from '../../../../language-server/src/runners/cardRunner.ts';
import {
  JobRefused,
  pagesFor,
  storeFailure,
  storeOutputs,
  toOutcome,
  toWorkerJob,
} from '../../../../language-server/src/runners/quickjsJob.ts';
import type { ThreadEnd } from '../../../../language-server/src/runners/quickjsThread.ts';
import { createBlobStore, type BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import { cardJob, putFile, putFolder } from '../../../support/quickjsRunner.ts';

describe('quickjsJob', () => {
  let folder = '';
  let blobs: BlobStore;

  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-js-'));
    blobs = createBlobStore(folder);
  });

  after(() => rmSync(folder, { recursive: true, force: true }));

  function refusal(changes: Partial<CardJob>): JobOutcome {
    try {
      toWorkerJob(cardJob(blobs, '', changes), blobs);
    } catch (error) {
      assert.ok(error instanceof JobRefused, String(error));
      return error.outcome;
    }
    return assert.fail('was not refused');
  }

  it('[QJS-09] hands over the modules, inputs and bounds of a job, and no other file', () => {
    const files = {
      'main.mjs': 'a',
      'lib/b.js': 'b',
      'data.csv': 'x',
      '_card.json': '{}',
      '__proto__.js': 'p',
    };
    const job = toWorkerJob(
      cardJob(blobs, '', {
        entry: './main.mjs',
        code: putFolder(blobs, files),
        inputs: [
          { port: 'a', type: 'table', artifact: putFile(blobs, 'x\n1\n') },
          { port: 'b', type: 'image', artifact: putFile(blobs, new Uint8Array([255])) },
        ],
        limits: { seconds: 3, memoryMB: 8, processes: 1, outputMB: 100_000, logMB: 2 },
      }),
      blobs,
    );
    assert.equal(job.entry, 'main.mjs');
    assert.deepEqual(Object.keys(job.modules).sort(), ['__proto__.js', 'lib/b.js', 'main.mjs']);
    assert.deepEqual(job.inputs, {
      a: { type: 'table', text: 'x\n1\n' },
      b: { type: 'image', bytes: new Uint8Array([255]) },
    });
    assert.equal(job.deadlineMs, 3000);
    assert.equal(job.outputBytes, 64 * 1024 * 1024, 'never more than an instance can hold');
    assert.equal(job.logBytes, 2 * 1024 * 1024);
  });

  it('[QJS-12] refuses what a js card can not have, with the remedy', () => {
    const closed: CardJob['access'] = { network: { kind: 'none' }, hostFolders: [] };
    const cases: readonly [string, Partial<CardJob>, RegExp][] = [
      ['a list of arguments', { entry: ['a'] }, /one file/],
      [
        'the network',
        { access: { ...closed, network: { kind: 'hosts', hosts: ['a.test'] } } },
        /the network/,
      ],
      [
        'folders',
        { access: { ...closed, hostFolders: [{ path: '/', name: 'a', write: false }] } },
        /folders/,
      ],
      ['the project', { access: { ...closed, projectRoot: '/' } }, /the project/],
      [
        'a directory out',
        { outputs: [{ port: 'out', type: 'directory', optional: false }] },
        /"out" is a directory/,
      ],
      [
        'a directory in',
        { inputs: [{ port: 'in', type: 'directory', artifact: putFolder(blobs, {}) }] },
        /"in" is a directory/,
      ],
      [
        'a folder where a file is declared',
        { inputs: [{ port: 'in', type: 'file', artifact: putFolder(blobs, {}) }] },
        /"in" is a folder/,
      ],
      [
        'an input that is not UTF-8',
        { inputs: [{ port: 'in', type: 'table', artifact: putFile(blobs, new Uint8Array([0xff])) }] },
        /"in" is not UTF-8/,
      ],
      [
        'a module that is not UTF-8',
        { code: putFolder(blobs, { 'a.js': new Uint8Array([0xff]) }) },
        /a\.js is not UTF-8/,
      ],
      [
        'too much code',
        { code: putFolder(blobs, { 'a.js': 'x'.repeat(5_000_000), 'b.js': 'y'.repeat(5_000_000) }) },
        /more than 2000 \.js files or 8 MiB/,
      ],
    ];
    for (const [name, changes, detail] of cases) {
      const outcome = refusal(changes);
      assert.ok(outcome.kind === 'refused' && outcome.code === 'bad-input', name);
      assert.match(outcome.detail, detail, name);
    }
  });

  it('[QJS-12] refuses inputs that a sandbox has no room for', () => {
    const artifact = { ...putFile(blobs, 'x'), sizeBytes: 40 * 1024 * 1024 };
    const outcome = refusal({ inputs: [{ port: 'in', type: 'text', artifact }] });
    assert.ok(outcome.kind === 'limit' && outcome.limit === 'memory');
  });

  it('says what is wrong with the store', () => {
    const digest = 'a'.repeat(64);
    const outcome = refusal({ code: { kind: 'directory', digest, sizeBytes: 0, files: 0 } });
    assert.ok(outcome.kind === 'refused' && outcome.code === 'internal');
    const full = storeFailure(new UserError('disk-full', 'The disk is full'));
    assert.ok(full.kind === 'refused' && full.code === 'disk-full');
  });

  it('[QJS-03] gives as much memory as the manifest says, from 16 to 64 MiB', () => {
    assert.deepEqual([1, 16, 32, 64, 1024].map(pagesFor), [256, 256, 512, 1024, 1024]);
  });

  it('[QJS-01] turns every end into an outcome', () => {
    const failed = (code: string): ThreadEnd =>
      ({ kind: 'answered', result: { kind: 'error', code, message: 'm', logCutBytes: 0 } }) as ThreadEnd;
    const cases: readonly [ThreadEnd, string][] = [
      [{ kind: 'answered', result: { kind: 'ok', outputs: {}, logCutBytes: 0 } }, 'exited 0'],
      [failed('exception'), 'exception m'],
      [failed('stack'), 'exception m'],
      [failed('bad-output'), 'exception m'],
      [failed('bad-entry'), 'exception m'],
      [failed('timeout'), 'timeout 60'],
      [failed('memory'), 'limit memory'],
      [failed('output-too-large'), 'limit output'],
      [{ kind: 'timeout' }, 'timeout 60'],
      [{ kind: 'cancelled' }, 'cancelled'],
      [{ kind: 'out-of-memory' }, 'limit memory'],
      [{ kind: 'died', detail: 'd' }, 'exception The sandbox ended: d'],
    ];
    for (const [end, expected] of cases) {
      const outcome = toOutcome(end, cardJob(blobs, ''), 1024);
      const word =
        outcome.kind === 'exited'
          ? outcome.exitCode
          : outcome.kind === 'exception'
            ? outcome.message
            : outcome.kind === 'timeout'
              ? outcome.seconds
              : outcome.kind === 'limit'
                ? outcome.limit
                : '';
      assert.equal(`${outcome.kind} ${word}`.trim(), expected);
    }
  });

  it('[QJS-09] stores declared outputs only, and names what is missing', () => {
    const outputs = [
      { port: 'text', type: 'text', optional: false },
      { port: 'image', type: 'image', optional: false },
      { port: 'gone', type: 'json', optional: false },
      { port: 'perhaps', type: 'json', optional: true },
    ] as const;
    const returned = { text: 'hé', image: new Uint8Array([1, 2, 3]), other: 'x' };
    const taken = storeOutputs(cardJob(blobs, '', { outputs }), returned, blobs);
    assert.deepEqual(Object.keys(taken.outputs), ['text', 'image']);
    assert.equal(blobs.readBytes(taken.outputs['text']?.digest ?? '').toString(), 'hé');
    assert.equal(taken.outputs['image']?.sizeBytes, 3);
    assert.deepEqual(
      taken.outputProblems.map(({ port, kind }) => [port, kind]),
      [['gone', 'missing']],
    );
  });
});

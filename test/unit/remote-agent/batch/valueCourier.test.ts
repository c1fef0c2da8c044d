import assert from 'node:assert/strict';
import { chmodSync, linkSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import { awaitValues } from '../../../../remote-agent/src/batch/awaitValues.ts';
import { BatchFolder } from '../../../../remote-agent/src/batch/batchFolder.ts';
import { ValueCourier, type AskValues } from '../../../../remote-agent/src/batch/valueCourier.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const text = (byte: number) => Buffer.alloc(32, byte).toString('base64');
const wish = { item: 'db', field: 'password', use: { kind: 'env', name: 'DB' } } as const;
const sealed = { ephemeralKey: 'a', iv: 'b', ciphertext: 'c', tag: 'd' };
const values = [{ grant: 'g', wish, sealed }];

describe('vault values on their way through a shared folder', () => {
  const temporary = useTemporaryFolder();
  let folder: BatchFolder;
  let asked: string[];
  let problems: string[];
  let answer: AskValues;
  let courier: ValueCourier;
  let looking: NodeJS.Timeout;

  beforeEach(() => {
    folder = new BatchFolder(join(temporary(), 'shared'), process.getuid?.() ?? -1);
    [asked, problems] = [[], []];
    answer = () => Promise.resolve(values);
    courier = new ValueCourier({
      folder,
      ask: (jobId, key, signal) => {
        asked.push(key.publicKey);
        return answer(jobId, key, signal);
      },
      onProblem: (_doing, error) => problems.push(String(error)),
    });
    looking = setInterval(() => courier.look('job-1', folder.runFiles()), 5);
  });
  afterEach(() => clearInterval(looking));

  const job = (publicKey = text(1), more: { waitSeconds?: number; signal?: AbortSignal } = {}) =>
    awaitValues({
      folder,
      jobId: 'job-1',
      awaits: { ticket: text(0), waitSeconds: more.waitSeconds ?? 20 },
      publicKey,
      now: () => performance.now(),
      signal: more.signal ?? new AbortController().signal,
    });
  const left = () => [...folder.runFiles()].filter((name) => /\.(key|values)$/.test(name));

  it('come to the job that told its key, are asked for once, and leave nothing [SLURM-16]', async () => {
    assert.deepEqual(await job(), values);
    assert.deepEqual(asked, [text(1)]);
    assert.deepEqual(left(), []);
    assert.deepEqual(problems, []);
  });

  it('that are refused end the job in the words of who refused [SLURM-16]', async () => {
    answer = () => Promise.reject(new UserError('permission-needed', 'no grant', { remedy: 'Give one.' }));
    await assert.rejects(job(), {
      code: 'permission-needed',
      message: 'no grant',
      data: { remedy: 'Give one.' },
    });
    assert.deepEqual(left(), []);
  });

  for (const code of ['closed', 'not-found', 'cancelled'] as const) {
    it(`are waited for while nobody answers (${code}), and no longer than that [SLURM-17]`, async () => {
      answer = () => Promise.reject(new UserError(code, 'nobody'));
      await assert.rejects(job(text(1), { waitSeconds: 1 }), {
        code: 'permission-needed',
        message: /did not come within 1 seconds/,
      });
      assert.deepEqual(asked, [text(1)]);
      assert.deepEqual(left(), []);
    });
  }

  it('are brought by the next connection where the first one ended [SLURM-17]', async () => {
    answer = () => Promise.reject(new UserError('closed', 'gone'));
    const waiting = job();
    await until(() => asked.length === 1);
    answer = () => Promise.resolve(values);
    courier = new ValueCourier({
      folder,
      ask: (...all) => answer(...all),
      onProblem: () => assert.fail('a problem'),
    });
    assert.deepEqual(await waiting, values);
  });

  it('are not asked for any more when the job is to end [SLURM-17]', async () => {
    const stop = new AbortController();
    let wasDropped = false;
    answer = (_jobId, _key, signal) =>
      new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => {
          wasDropped = true;
          reject(new UserError('cancelled', 'dropped'));
        });
      });
    const waiting = job(text(1), { signal: stop.signal });
    await until(() => asked.length === 1);
    stop.abort();
    await assert.rejects(waiting, { code: 'cancelled' });
    await until(() => wasDropped);
    assert.deepEqual(left(), []);
  });

  it('of two starts of a job the last one gets them, and the other ends [SLURM-18]', async () => {
    let give = (): void => undefined;
    answer = (_jobId, key) =>
      key.publicKey === text(2)
        ? new Promise((resolve) => (give = () => resolve(values)))
        : new Promise(() => undefined);
    const first = job(text(1));
    await until(() => asked.length === 1);
    const second = job(text(2));
    assert.equal(await first, undefined);
    await until(() => asked.length === 2);
    give();
    assert.deepEqual(await second, values);
  });

  const awkward: readonly [string, (path: string) => void][] = [
    ['others may write', (path) => chmodSync(path, 0o666)],
    [
      'is a link',
      (path) => {
        renameSync(path, `${path}.target`);
        symlinkSync(`${path}.target`, path);
      },
    ],
    [
      'is a folder’s',
      (path) => {
        rmSync(path);
        symlinkSync('/', path);
      },
    ],
  ];
  for (const [name, spoil] of awkward) {
    it(`a key whose file ${name} gets none, and is told of once [SLURM-18]`, async () => {
      clearInterval(looking);
      folder.writeKey('job-1', { publicKey: text(1), proof: text(3) });
      spoil(folder.runFile('job-1.key'));
      for (let round = 0; round < 3; round++) courier.look('job-1', folder.runFiles());
      assert.deepEqual(asked, []);
      assert.equal(problems.length, 1);
    });
  }

  it('a key without form, or with another name in its place, is none', () => {
    clearInterval(looking);
    for (const content of ['', '{}', '[1', JSON.stringify({ publicKey: 'short', proof: text(1) })]) {
      writeFileSync(folder.runFile('job-1.key'), content, { mode: 0o600 });
      assert.equal(folder.keyOf('job-1'), undefined);
    }
    linkSync(folder.runFile('job-1.key'), folder.runFile('job-1.values'));
    assert.equal(folder.valuesOf('job-1'), undefined);
  });
});

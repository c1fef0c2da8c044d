import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { slurmChoice } from '../../../../protocol/src/slurmChoice.ts';
import { batchScript, quote } from '../../../../remote-agent/src/batch/batchScript.ts';
import { createSlurm, submitWords, type RunSlurm } from '../../../../remote-agent/src/batch/slurm.ts';
import { jobWith } from '../../../support/jobs.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const { limits } = jobWith({});

describe('Slurm by its commands', () => {
  const folder = useTemporaryFolder();

  it('asks for what the card’s limits say, for nothing of the surroundings, and for no second start [SLURM-13]', () => {
    const words = submitWords({
      name: 'sallyport-a',
      count: 3,
      limits: { ...limits, seconds: 61, memoryMB: 64 },
      waitSeconds: 0,
    });
    for (const word of [
      '--parsable',
      '--export=NONE',
      '--no-requeue',
      '--job-name=sallyport-a',
      '--time=4',
      '--mem=364M',
      '--cpus-per-task=1',
      '--array=0-2',
    ])
      assert.ok(words.includes(word), word);
    assert.ok(
      !submitWords({ name: 'sallyport-a', count: 1, limits, waitSeconds: 0 }).some((word) =>
        word.startsWith('--array'),
      ),
    );
  });

  it('what a person chose is asked for, each as one word that Slurm knows, and told apart from other nodes [SLURM-20]', async () => {
    let asked: readonly string[] = [];
    const run: RunSlurm = (_program, words) => {
      asked = words;
      return Promise.resolve({ code: 0, stdout: '7\n', stderr: '' });
    };
    const system = createSlurm(run, { partition: 'short', constraint: 'avx2&(rack1|rack2)' });
    await system.submit({ name: 'sallyport-a', count: 1, limits, waitSeconds: 0, script: '' });
    assert.deepEqual(asked.slice(-2), ['--partition=short', '--constraint=avx2&(rack1|rack2)']);
    assert.notEqual(system.chosen, createSlurm(run, { partition: 'long' }).chosen);
    assert.equal(createSlurm(run).chosen, '');
  });

  it('what is no word of Slurm’s is none that a person can choose [SLURM-20]', () => {
    const good = ['short', 'a_b-c.d', 'gpu,cpu', 'avx2&rack1', '[rack1|rack2]', 'user@site'];
    for (const partition of good) assert.ok(slurmChoice.safeParse({ partition }).success, partition);
    const bad = [
      '',
      '-x',
      '--wrap=true',
      'a b',
      "a'b",
      'a"b',
      'a$b',
      'a\nb',
      'a;b',
      'a`b',
      'a/b',
      'x'.repeat(201),
    ];
    for (const partition of bad) assert.ok(!slurmChoice.safeParse({ partition }).success, partition);
    assert.ok(!slurmChoice.safeParse({ wrap: 'true' }).success);
  });

  it('a controller that does not answer is “unreachable”, and asked names are split', async () => {
    const asked: (readonly string[])[] = [];
    const away: RunSlurm = (_program, words) => {
      asked.push(words);
      return Promise.resolve({
        code: 1,
        stdout: '',
        stderr: 'squeue: error: Unable to contact slurm controller',
      });
    };
    await assert.rejects(createSlurm(away).states(['sallyport-a']), { code: 'unreachable' });
    await assert.rejects(createSlurm(away).cancel(['1']), { code: 'unreachable' });
    const silent: RunSlurm = () => Promise.resolve({ code: undefined, stdout: '', stderr: '' });
    await assert.rejects(createSlurm(silent).largestRequest(), { code: 'unreachable' });
    const fine: RunSlurm = (program, words) => {
      if (program === 'squeue') asked.push(words);
      return Promise.resolve({ code: 0, stdout: '', stderr: '' });
    };
    asked.length = 0;
    await createSlurm(fine).states(Array.from({ length: 450 }, (_, index) => `sallyport-${index}`));
    assert.equal(asked.length, 3);
  });

  it('arrays are never larger than the cluster allows, nor than 1,000', async () => {
    for (const [size, wanted] of [
      ['1001', 1000],
      ['51', 50],
      ['0', 1],
      ['4000001', 1000],
    ] as const) {
      const run: RunSlurm = () =>
        Promise.resolve({ code: 0, stdout: `MaxArraySize = ${size}\n`, stderr: '' });
      assert.equal(await createSlurm(run).largestRequest(), wanted);
    }
  });

  it('a word stays one word of the shell, whatever is in it', () => {
    const word = fc.string({ minLength: 1, maxLength: 30 }).filter((text) => !text.includes('\0'));
    fc.assert(
      fc.property(word, (text) => {
        const said = execFileSync('/bin/sh', ['-c', `printf %s ${quote(text)}`], { encoding: 'utf8' });
        assert.equal(said, text);
      }),
      { numRuns: 30 },
    );
  });

  it('the script starts the runner by exact paths and keeps what it says', () => {
    const home = join(folder(), `it's; $(here) "x"`);
    mkdirSync(join(home, 'runs'), { recursive: true });
    const program = join(home, 'runner.cjs');
    writeFileSync(program, 'console.log(JSON.stringify(process.argv.slice(2)))');
    const { told } = createSlurm(() => Promise.reject(new Error('nothing is asked')));
    const script = batchScript({ node: process.execPath, program, home, name: 'sallyport-a', told });
    execFileSync('/bin/sh', ['-s'], {
      input: script,
      env: {
        PATH: '/usr/bin:/bin',
        SLURM_JOB_ID: '20',
        SLURM_ARRAY_JOB_ID: '12',
        SLURM_ARRAY_TASK_ID: '7',
        SLURM_RESTART_COUNT: '2',
      },
    });
    const said = JSON.parse(readFileSync(join(home, 'runs', 'sallyport-a.7.said'), 'utf8')) as string[];
    const task = ['--index', '7', '--task', '12_7', '--restart', '2'];
    assert.deepEqual(said, ['batch', 'once', '--home', home, '--submit', 'sallyport-a', ...task]);
    // One that is no array, started for the first time.
    execFileSync('/bin/sh', ['-s'], { input: script, env: { PATH: '/usr/bin:/bin', SLURM_JOB_ID: '20' } });
    const alone = JSON.parse(readFileSync(join(home, 'runs', 'sallyport-a.0.said'), 'utf8')) as string[];
    assert.deepEqual(alone.slice(6), ['--index', '0', '--task', '20_0', '--restart', '0']);
  });
});

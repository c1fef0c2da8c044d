import assert from 'node:assert/strict';
import { UserError } from '../../../protocol/src/errors.ts';
import type { JobSpec } from '../../../protocol/src/runner.ts';
import type { Interpreters } from '../../../remote-agent/src/interpreters.ts';
import { programOf } from '../../../remote-agent/src/program.ts';
import { jobWith } from '../../support/jobs.ts';

const interpreters: Interpreters = {
  python: { runtime: 'python', path: '/usr/bin/python3', version: '3' },
  node: { runtime: 'node', path: '/opt/node', version: '22' },
  shell: { runtime: 'shell', path: '/bin/sh', version: 'dash' },
};
const place = {
  interpreters,
  platform: 'linux',
  hasFile: (path: string) => path === '/usr/bin/sort',
  cardFolder: '/card',
} as const;

describe('the program of a job', () => {
  const good: readonly (readonly [JobSpec['runtime'], JobSpec['entry'], readonly string[]])[] = [
    ['python', 'main.py', ['/usr/bin/python3', '/card/main.py']],
    ['python', 'src/./main.py', ['/usr/bin/python3', '/card/src/main.py']],
    ['python', '-c', ['/usr/bin/python3', '/card/-c']],
    ['node', 'main.mjs', ['/opt/node', '--max-old-space-size=48', '/card/main.mjs']],
    ['shell', 'a b.sh', ['/bin/sh', '/card/a b.sh']],
    ['command', ['sort', '-r'], ['/usr/bin/sort', '-r']],
    ['command', ['./tool', '--x'], ['/card/tool', '--x']],
    ['command', ['bin/tool'], ['/card/bin/tool']],
    ['command', ['/usr/bin/env'], ['/usr/bin/env']],
    ['command', 'sort', ['/usr/bin/sort']],
  ];
  for (const [runtime, entry, words] of good) {
    it(`is ${words.join(' ')} for ${runtime} ${String(entry)}`, () => {
      assert.deepEqual(programOf(jobWith({ runtime, entry }), place), words);
    });
  }

  const bad: readonly (readonly [JobSpec['runtime'], JobSpec['entry']])[] = [
    ['python', '../main.py'],
    ['python', 'a/../../main.py'],
    ['python', '/etc/passwd'],
    ['python', '.'],
    ['python', ['main.py']],
    ['shell', 'a\0b'],
    ['command', []],
    ['command', ['../tool']],
    ['command', ['sort', 'a\0b']],
  ];
  for (const [runtime, entry] of bad) {
    it(`is refused for ${runtime} ${JSON.stringify(entry)}`, () => {
      const isBad = (error: unknown) => error instanceof UserError && error.code === 'bad-message';
      assert.throws(() => programOf(jobWith({ runtime, entry }), place), isBad);
    });
  }

  it('is named with the remedy where it is missing', () => {
    const isMissing = (error: unknown) =>
      error instanceof UserError &&
      error.code === 'interpreter-missing' &&
      /Install/.test(String(error.data['remedy']));
    assert.throws(() => programOf(jobWith({ runtime: 'command', entry: ['nonesuch'] }), place), isMissing);
    assert.throws(() => programOf(jobWith({ runtime: 'python' }), { ...place, interpreters: {} }), isMissing);
  });

  it('is refused parameters that no environment can hold', () => {
    const job = jobWith({ params: JSON.stringify('x'.repeat(130_000)) });
    assert.throws(() => programOf(job, place), /parameters are longer/);
  });
});

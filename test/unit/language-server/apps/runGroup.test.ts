import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runGroup } from '../../../../language-server/src/apps/sources/runGroup.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('runGroup', () => {
  const folder = useTemporaryFolder();
  const run = (script: string, more: { signal?: AbortSignal; silentMs?: number } = {}) =>
    runGroup('sh', ['-c', script], {
      cwd: folder(),
      env: { PATH: process.env['PATH'] ?? '' },
      signal: new AbortController().signal,
      silentMs: 60_000,
      ...more,
    });
  /** A script whose child outlives it, and leaves its pid. */
  const parent = (then: string) => `sleep 600 & echo $! > child; ${then}`;
  const child = () => Number(readFileSync(join(folder(), 'child'), 'utf8'));
  const isGone = () =>
    until(() => {
      // A process that nobody has waited for is a zombie here: it holds nothing any more.
      const path = `/proc/${child()}/stat`;
      return !existsSync(path) || / Z /.test(readFileSync(path, 'utf8'));
    });

  it('ends with the program, and with what it left', async () => {
    await run(parent('exit 0'));
    await isGone();
  });

  it('ends all of it where a person stops', async () => {
    const stop = new AbortController();
    const running = run(parent('wait'), { signal: stop.signal });
    await until(() => existsSync(join(folder(), 'child')) && child() > 0);
    stop.abort(new Error('enough'));
    await assert.rejects(running, { message: 'enough' });
    await isGone();
    await assert.rejects(run('touch never', { signal: stop.signal }), { message: 'enough' });
    assert.ok(!existsSync(join(folder(), 'never')));
  });

  it('ends all of it where nothing is said', async () => {
    await assert.rejects(run(parent('wait'), { silentMs: 200 }), { message: /timeout/ });
    await isGone();
  });

  it('tells what was written last, without how far it was', async () => {
    const said = String.raw`remote: Counting objects: 50% (1/2)\rremote: Counting objects: 100% (2/2), done.\nReceiving objects: 3% (1/30)\rHost key verification failed.\r\nfatal: no\n`;
    await assert.rejects(run(`printf '%b' '${said}' >&2; exit 128`), {
      message: 'Host key verification failed.\nfatal: no\n',
    });
    await assert.rejects(
      runGroup('no-such-program', [], {
        cwd: folder(),
        env: {},
        signal: new AbortController().signal,
        silentMs: 1000,
      }),
      { code: 'ENOENT' },
    );
  });
});

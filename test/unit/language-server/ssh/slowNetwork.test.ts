import assert from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { hasSshd } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';

const program = join(import.meta.dirname, '../../../support/slowNetwork.ts');

interface Report {
  readonly how: string;
  readonly latencyMs: number;
  readonly results: readonly { outcome: unknown; lines: string; starts: number; same: boolean }[];
}

describe('a slow and lossy network', function () {
  this.timeout(180_000);
  const folder = useTemporaryFolder();

  before(function () {
    if (hasSshd) return;
    console.log('No sshd here: install openssh-server to run these.');
    this.skip();
  });

  /** Whatever this machine can do: its own namespace by the kernel, and a relay where there is none. */
  const ways = [
    ...(canUnshare() ? [['by the kernel, as far as it can', 'own'] as const] : []),
    ['by a relay', 'relay'] as const,
  ];
  for (const [title, how] of ways)
    it(`costs time and nothing else: 200 ms there and back, one packet in twenty lost, ${title} [PLACE-14]`, async () => {
      const words = [process.execPath, program, folder(), how];
      const [file = '', ...rest] = how === 'own' ? ['unshare', '--net', ...words] : words;
      const { stdout } = await promisify(execFile)(file, rest, { timeout: 170_000 });
      const report = JSON.parse(stdout) as Report;
      // Control: the network was bad.
      assert.ok(report.latencyMs >= 190, `${report.how}: ${report.latencyMs} ms`);
      const lines = Array.from({ length: 200 }, (_, index) => `line ${index + 1}\n`).join('');
      for (const { outcome, lines: heard, starts, same } of report.results) {
        assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 });
        assert.equal(heard, lines);
        assert.equal(starts, 1);
        assert.ok(same);
      }
    });
});

function canUnshare(): boolean {
  try {
    execFileSync('unshare', ['--net', 'true'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

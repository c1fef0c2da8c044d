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
  this.timeout(120_000);
  const folder = useTemporaryFolder();

  before(function () {
    const missing = !hasSshd ? 'no sshd' : !canUnshare() ? 'no network namespace of one’s own' : undefined;
    if (missing === undefined) return;
    console.log(`Left out: ${missing} here.`);
    this.skip();
  });

  it('costs time and nothing else: 200 ms there and back, one packet in twenty lost [PLACE-14]', async () => {
    const { stdout } = await promisify(execFile)('unshare', ['--net', process.execPath, program, folder()], {
      timeout: 110_000,
    });
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

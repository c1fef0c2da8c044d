import assert from 'node:assert/strict';
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readEnvironment } from '../../../../remote-agent/src/environment.ts';
import { openBubblewrap } from '../../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import { initScript } from '../../../../remote-agent/src/isolation/initScript.ts';
import { createPlace } from '../../../../remote-agent/src/isolation/place.ts';
import { standbyRequest } from '../../../../remote-agent/src/jobRequest.ts';
import { createRunnerFolder, rootScratch } from '../../../../remote-agent/src/runnerFolder.ts';

const setarch = '/usr/bin/setarch';
const isRoot = process.getuid?.() === 0;

describe('the addresses of a sandbox', () => {
  before(function () {
    if (process.platform === 'linux' && existsSync(setarch)) return;
    console.log(`      needs Linux and ${setarch}`);
    this.skip();
  });

  /** Which files and memory lie where, in what runs as a card and in what seals it. */
  const look = async (fixedAddresses: boolean | undefined) => {
    const scratch = mkdtempSync(join(isRoot ? rootScratch : tmpdir(), 'sallyport-addresses-'));
    if (isRoot) chmodSync(scratch, 0o711);
    try {
      const folder = createRunnerFolder({ scratch, pid: process.pid, passable: isRoot });
      const place = createPlace({ environment: readEnvironment(), folder, helpers: {}, fixedAddresses });
      const [program, ...rest] = place.shell;
      // BusyBox is in the image of a VM; anywhere, setarch(8) does the same.
      const shell = program === '/usr/bin/busybox' ? [setarch, '-R', ...rest.slice(2)] : place.shell;
      const { sandbox } = await openBubblewrap({ ...place, shell }, standbyRequest(), folder.nextJobFolder());
      const seal = isRoot ? layout(readFileSync(`/proc/${sandbox.first.pid}/maps`, 'utf8')) : undefined;
      let output = '';
      sandbox.output.setEncoding('utf8').on('data', (text: string) => (output += text));
      const closed = new Promise((resolve) => sandbox.output.once('close', resolve));
      sandbox.start(
        initScript({
          argv: ['/usr/bin/cat', '/proc/self/maps'],
          environment: {},
          limits: { processes: undefined, dataBytes: undefined, fileBytes: undefined, openFiles: 64 },
        }),
      );
      await sandbox.ended;
      await sandbox.end();
      await closed;
      return { card: layout(output), seal };
    } finally {
      rmSync(scratch, { recursive: true, force: true });
    }
  };

  it('[VM-34] are the same at each start of a card where that was said, and bubblewrap’s own are not', async () => {
    const [first, second] = [await look(true), await look(true)];
    assert.match(first.card, /\/usr\/bin\/cat[^]*libc[^]*\[stack\]/);
    assert.equal(first.card, second.card);
    // Of another user's program only root may know.
    if (first.seal !== undefined) {
      assert.match(first.seal, /bwrap/);
      assert.notEqual(first.seal, second.seal);
    }
  });

  it('[VM-34] are others at each start where nothing was said', async () => {
    for (const said of [undefined, false])
      assert.notEqual((await look(said)).card, (await look(said)).card, String(said));
  });
});

/** Addresses and names, of the text of /proc/PID/maps. */
function layout(maps: string): string {
  return maps
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => `${line.slice(0, line.indexOf(' '))} ${line.split(/\s+/)[5] ?? ''}`)
    .join('\n');
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packCpio } from '../../../language-server/src/runners/vm/cpio.ts';
import {
  firstProgram,
  guestPaths,
  startProgram,
} from '../../../language-server/src/runners/vm/guestScripts.ts';
import { qemuArguments } from '../../../language-server/src/runners/vm/qemuArguments.ts';
import { imageFiles, openVmFolder } from '../../../language-server/src/runners/vm/vmFolder.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { builtVmHome, vmFault } from '../../support/vm.ts';
import { fixtures, readAttacks } from '../cards/attack.ts';
import { routesIn } from '../cards/evidence.ts';
import { vmLures } from './vmPlace.ts';

const canary = 'CANARY-of-the-guest';

/**
 * The negative control of what cards try in the VM: the same program in the same guest, beside the same runner and
 * without the sandbox, finds and opens all of it.
 */
describe('an unsealed card in a VM', function () {
  this.timeout(600_000);
  const folder = useTemporaryFolder();
  const secretBlob = 'ab/cdef';

  it('own-things: works with the protection off', async function () {
    const fault = vmFault();
    if (fault !== undefined) {
      console.log(`      skipped: ${fault}`);
      this.skip();
    }
    const { image } = openVmFolder(await builtVmHome(bundledRunner()));
    const [attack] = readAttacks('places');
    assert.ok(attack);
    const params = JSON.stringify({ bounded: true, lures: vmLures(secretBlob) });
    const read = (path: string) => readFileSync(path);
    const initrd = join(folder(), 'initrd');
    // The kernel unpacks one archive after the other, and the later file of a name counts.
    writeFileSync(
      initrd,
      Buffer.concat([
        read(imageFiles(image).initrd),
        packCpio([
          { path: 'init', mode: 0o755, content: Buffer.from(otherFirstProgram()) },
          { path: 'control', mode: 0o755 },
          { path: 'control/start', mode: 0o755, content: Buffer.from(otherStartProgram(params)) },
          { path: 'control/main.py', mode: 0o644, content: read(join(attack.folder, 'main.py')) },
          { path: 'control/attack.py', mode: 0o644, content: read(join(fixtures, 'lib/attack.py')) },
        ]),
      ]),
    );
    const log = await boot(image, initrd, folder());
    const got = new Set(routesIn(log).flatMap(({ name, got }) => (got ? [name] : [])));
    const elsewhere = ['keys', 'change-keys', 'service'];
    assert.deepEqual(
      Object.keys(attack.routes).filter((route) => !got.has(route)),
      Object.keys(attack.routes).filter((route) => elsewhere.includes(route)),
      log.slice(-3000),
    );
    assert.ok(log.includes(canary));
  });

  function otherFirstProgram(): string {
    return replaced(
      firstProgram(),
      /^exec \$B switch_root .*$/m,
      `$B cp -r /control /root/control && exec $B switch_root /root /control/start`,
    );
  }

  function otherStartProgram(params: string): string {
    const { home, node, runner } = guestPaths;
    return replaced(
      startProgram(),
      /^exec .* guest$/m,
      `${node} ${runner} serve --home ${home} &
while ! [ -S ${home}/runner.sock ]; do sleep 0.1; done
mkdir -p ${home}/blobs/ab && echo ${canary} >${home}/blobs/${secretBlob}
echo ${canary} >${home}/events/card-of-somebody
SALLYPORT_PARAMS='${params}' python3 /control/main.py
echo CONTROL ENDED
/usr/bin/busybox reboot -f`,
    );
  }
});

function replaced(text: string, pattern: RegExp, by: string): string {
  assert.match(text, pattern);
  return text.replace(pattern, () => by);
}

/** Boots the guest with another first program, until it switches itself off; what it wrote to its console. */
async function boot(image: string, initrd: string, folder: string): Promise<string> {
  const at = (name: string) => join(folder, name);
  const shape = { accelerator: 'tcg', memoryMB: 1024, processors: 1, network: false, shares: [] } as const;
  const args = qemuArguments(
    shape,
    {
      ...imageFiles(image),
      initrd,
      diskFormat: 'raw',
      control: at('control'),
      bulk: at('bulk'),
      terminal: at('terminal'),
      monitor: at('monitor'),
      shares: [],
      console: at('console'),
    },
    { kind: 'boot' },
  );
  // Nothing of it is written to the image.
  const child = spawn('/usr/bin/qemu-system-x86_64', ['-snapshot', ...args], {
    stdio: 'ignore',
    cwd: folder,
    env: { TMPDIR: folder },
  });
  const ended = once(child, 'exit');
  const timer = setTimeout(() => child.kill('SIGKILL'), 500_000);
  await ended;
  clearTimeout(timer);
  const log = existsSync(at('console')) ? readFileSync(at('console'), 'utf8').replaceAll('\r', '') : '';
  assert.match(log, /CONTROL ENDED/, log.slice(-3000));
  return log;
}

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { runTool } from '../../../language-server/src/runners/vm/tools.ts';
import { imageFiles, openVmFolder } from '../../../language-server/src/runners/vm/vmFolder.ts';
import { spawnSystemTool } from '../../../language-server/src/environment.ts';
import { guestReadyLine, guestVsock } from '../../../protocol/src/vmGuest.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { builtVmHome, vmFault } from '../../support/vm.ts';

const never = new AbortController().signal;

/** As near to a Mac as Linux comes: the same image on a machine with PCI and without the serial ports. */
describe('an image on a machine of another kind', function () {
  this.timeout(300_000);
  const folder = useTemporaryFolder();

  before(function () {
    const fault = vmFault();
    if (fault === undefined) return;
    console.log(`      skipped: ${fault}`);
    this.skip();
  });

  it('[VM-31] finds its disks on PCI, listens on vsock and serves its runner', async () => {
    const { image } = openVmFolder(await builtVmHome(bundledRunner()));
    const files = imageFiles(image);
    const disk = join(folder(), 'disk.qcow2');
    const log = join(folder(), 'console.log');
    await runTool(spawnSystemTool, {
      program: 'qemu-img',
      args: ['create', '-q', '-f', 'qcow2', '-b', files.disk, '-F', 'raw', disk],
      folder: folder(),
      signal: never,
    });
    const drive = (id: string, path: string, more: string) => [
      ...['-drive', `id=${id},file=${path},if=none,${more}`, '-device', `virtio-blk-pci,drive=${id}`],
    ];
    const machine = spawn(
      'qemu-system-x86_64',
      [
        ...[
          '-M',
          'q35,accel=tcg',
          '-cpu',
          'max',
          '-smp',
          '1',
          '-m',
          '1024',
          '-nodefaults',
          '-no-user-config',
        ],
        ...['-display', 'none', '-no-reboot', '-nic', 'none', '-serial', `file:${log}`],
        ...['-kernel', files.kernel, '-initrd', files.initrd, '-append'],
        `console=ttyS0 quiet panic=-1 rdinit=/init random.trust_cpu=on mitigations=off ${guestVsock.parameter}`,
        ...drive('root', files.root, 'format=raw,readonly=on'),
        ...drive('disk', disk, 'format=qcow2'),
        ...['-device', 'virtio-rng-pci'],
      ],
      { stdio: 'ignore' },
    );
    const ended = once(machine, 'exit');
    const said = () => (existsSync(log) ? readFileSync(log, 'utf8') : '');
    try {
      await until(() => said().includes(guestReadyLine) || machine.exitCode !== null, 180_000);
      assert.ok(said().includes(guestReadyLine), said());
      assert.doesNotMatch(said(), /no module|no disk|can't go on/);
    } finally {
      machine.kill('SIGKILL');
      await ended;
    }
  });
});

import { createWriteStream, existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { UserError } from '../../../../protocol/src/errors.ts';
import { storedFiles } from './vmFolder.ts';
import { untilEnded } from './machine.ts';
import type { MachineFolder } from './machineFolder.ts';
import { openMonitor } from './qmp.ts';
import type { VmShape } from './qemuArguments.ts';

/**
 * A stored VM is one that has booted, probed its isolation and run a first card, frozen before anything of a project
 * was in it. Starting from it takes a tenth of a boot.
 */
export function storedName(shape: VmShape, qemuVersion: string): string {
  const net = shape.network ? '-net' : '';
  const clock = shape.clockKHz === undefined ? '' : `-${shape.clockKHz}kHz`;
  return `stored-${shape.accelerator}${net}${clock}-${shape.memoryMB}-${shape.processors}-${qemuVersion.replace(/[^0-9.]/g, '')}`;
}

export function hasStored(image: string, name: string): boolean {
  const { memory, disk } = storedFiles(join(image, name));
  return existsSync(memory) && existsSync(disk);
}

/** Stores the VM of a folder and ends it. The store is there whole or not at all. */
export async function storeMachine(
  folder: MachineFolder,
  image: string,
  name: string,
  signal: AbortSignal,
): Promise<void> {
  const target = join(image, name);
  const work = `${target}.part`;
  rmSync(work, { recursive: true, force: true });
  mkdirSync(work, { mode: 0o700 });
  const files = storedFiles(work);
  const monitor = await openMonitor(folder.socket('monitor'));
  const server = createServer();
  try {
    const saved = new Promise<void>((resolve, reject) => {
      server.once('connection', (socket) => {
        pipeline(socket, createWriteStream(files.memory, { mode: 0o600 })).then(resolve, reject);
      });
      server.once('error', reject);
    });
    saved.catch(() => undefined);
    await new Promise<void>((resolve) => server.listen(folder.socket('memory'), resolve));
    await monitor.execute('migrate-set-parameters', { 'max-bandwidth': 10 ** 10 });
    await monitor.execute('migrate', { uri: 'unix:memory' });
    for (;;) {
      signal.throwIfAborted();
      const { status } = (await monitor.execute('query-migrate')) as { status?: unknown };
      if (status === 'completed') break;
      if (status === 'failed' || status === 'cancelled')
        throw new UserError('internal', 'QEMU could not store the VM');
      await wait(20, undefined, { signal });
    }
    await saved;
    // The VM stands still from here: its disk is what the memory knows.
    await monitor.execute('quit').catch(() => undefined);
    await untilEnded(folder, signal);
    renameSync(folder.file('disk.qcow2'), files.disk);
    rmSync(target, { recursive: true, force: true });
    renameSync(work, target);
  } finally {
    server.close();
    monitor.close();
    rmSync(work, { recursive: true, force: true });
  }
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer, connect } from 'node:net';
import type { AddressInfo } from 'node:net';
import { createWorkerTransport } from '../../../language-server/src/runners/worker/workerTransport.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { newIdentity, useWorkerRig } from '../../support/workerRig.ts';

/** Timers of connections in /proc/net/tcp (proc_net_tcp of the kernel's documentation). */
const keepalive = '02';

describe('a connection to a worker whose other end is gone', () => {
  const folder = useTemporaryFolder();
  const me = newIdentity();
  const rig = useWorkerRig(folder, me);

  const open = () =>
    createWorkerTransport({
      place: 'worker:lab',
      worker: rig().pinned,
      signer: me,
      now: () => Date.now(),
    }).open({ signal: new AbortController().signal, mayAsk: false, onStep: () => undefined });
  /** The timers of the established connections whose own end is this port. */
  const timersAt = (port: number): string[] =>
    readFileSync('/proc/net/tcp', 'utf8')
      .split('\n')
      .flatMap((line) => {
        const [, local = '', , state, , timer = ''] = line.trim().split(/\s+/);
        const isThere = state === '01' && Number.parseInt(local.split(':')[1] ?? '', 16) === port;
        return isThere ? [timer.split(':')[0] ?? ''] : [];
      });

  it('[WORKER-06] is noticed by the worker: the system asks whether it is there', async function () {
    if (process.platform !== 'linux') {
      console.log('Only Linux shows the timers of connections.');
      this.skip();
    }
    const link = await open();
    await until(() => timersAt(rig().server.port).includes(keepalive));
    link.close();
    // Nobody asks by default (control).
    const plain = createServer(() => undefined);
    await new Promise<void>((resolve) => plain.listen(0, '127.0.0.1', resolve));
    const { port } = plain.address() as AddressInfo;
    const socket = connect(port, '127.0.0.1');
    await until(() => timersAt(port).length === 1);
    assert.deepEqual(timersAt(port), ['00']);
    socket.destroy();
    plain.close();
  });

  it('[WORKER-06] takes everything with it that was opened beside it', async () => {
    for (const end of ['lost', 'closed'] as const) {
      const link = await open();
      link.control.start(
        () => undefined,
        () => undefined,
      );
      const bulk = await link.openBulk();
      bulk.on('error', () => undefined).resume();
      const gone = new Promise((resolve) => bulk.once('close', resolve));
      if (end === 'closed') link.close();
      else link.control.close();
      await gone;
    }
  });
});

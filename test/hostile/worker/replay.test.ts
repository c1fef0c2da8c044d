import assert from 'node:assert/strict';
import { createServer, type AddressInfo } from 'node:net';
import { createWorkerTransport } from '../../../language-server/src/runners/worker/workerTransport.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { RecordingRelay } from '../../support/recordingRelay.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { WorkerHost } from '../../support/workerHost.ts';
import { newIdentity } from '../../support/workerRig.ts';

const open = { signal: new AbortController().signal, mayAsk: false, onStep: () => undefined };

/** T12: somebody in between who has recorded what a member once sent. */
describe('a relay in front of a worker', () => {
  const folder = useTemporaryFolder();
  let worker: WorkerHost;
  let relay: RecordingRelay;

  beforeEach(async () => {
    worker = new WorkerHost(folder());
    await worker.start();
    relay = new RecordingRelay(worker.port);
  });
  afterEach(async () => {
    await relay.close();
    await worker.remove();
  });

  it('[WORKER-02] passes a member on, sees nothing of it, and can send none of it again', async () => {
    const me = newIdentity();
    const pinned = await worker.enrol(me, 'me');
    const port = await relay.start();
    const through = createWorkerTransport({
      place: 'worker:lab',
      worker: { ...pinned, port },
      signer: me,
      now: () => Date.now(),
    });
    const link = await through.open(open);
    const accepted = () => worker.audit().filter(({ event }) => event === 'connected');
    assert.equal(accepted().length, 1);
    const chunks = relay.recorded[0]?.sent ?? [];
    await until(() => Buffer.concat(chunks).length > 1000);
    link.close();

    // Identity, certificate and what is said after them are under the keys of this handshake.
    const sent = Buffer.concat(chunks);
    for (const secret of [me.spki, me.spki.toString('base64'), 'sallyport-control', 'CN=sallyport'])
      assert.equal(sent.includes(secret), false);

    for (const how of ['at once', 'in turn'] as const) {
      const heard = await relay.replay(chunks, how);
      // The worker’s key share is another one, so what follows the first message is not what it expects: an alert.
      assert.ok(heard.length > 0);
      assert.equal(heard.includes('sallyport-worker'), false);
    }
    assert.equal(accepted().length, 1, 'a replay was let in');

    // The control: the same member, there, a moment later.
    (await through.open(open)).close();
    assert.equal(accepted().length, 2);
  });

  it('[WORKER-05] can’t offer a recorded invitation again', async () => {
    const port = await relay.start();
    const direct = worker.port;
    worker.port = port;
    await worker.enrol(newIdentity(), 'me');
    worker.port = direct;
    const chunks = relay.recorded[0]?.sent ?? [];
    for (const how of ['at once', 'in turn'] as const) await relay.replay(chunks, how);
    assert.equal(worker.audit().filter(({ event }) => event === 'enrolled').length, 1);
  });

  it('[WORKER-03] can’t stand in for the worker with what the worker once said', async () => {
    const me = newIdentity();
    const pinned = await worker.enrol(me, 'me');
    const connect = (port: number) =>
      createWorkerTransport({
        place: 'worker:lab',
        worker: { ...pinned, port },
        signer: me,
        now: () => Date.now(),
      }).open(open);
    (await connect(await relay.start())).close();
    const answers = Buffer.concat(relay.recorded[0]?.answered ?? []);
    assert.ok(answers.length > 500);
    const heard: Buffer[] = [];
    const impostor = createServer((socket) => {
      socket.on('error', () => undefined).on('data', (chunk: Buffer) => heard.push(chunk));
      socket.write(answers);
    });
    await new Promise<void>((resolve) => impostor.listen(0, '127.0.0.1', resolve));
    try {
      await assert.rejects(
        connect((impostor.address() as AddressInfo).port),
        (error: unknown) => error instanceof UserError && error.code === 'unreachable',
      );
      // A first message and an alert: of the member nothing was said.
      assert.ok(Buffer.concat(heard).length < 3000);
      assert.equal(Buffer.concat(heard).includes('CN=sallyport'), false);
    } finally {
      impostor.close();
    }
  });
});

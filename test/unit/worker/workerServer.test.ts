import assert from 'node:assert/strict';
import { createHash, generateKeyPairSync } from 'node:crypto';
import { appendFileSync, chmodSync, readFileSync } from 'node:fs';
import {
  createConnection,
  createServer as createTcpServer,
  type AddressInfo,
  type Server,
  type Socket,
} from 'node:net';
import { join } from 'node:path';
import { connect, createServer, type ConnectionOptions } from 'node:tls';
import { enrolReadyLine, workerProtocols, workerReadyLine } from '../../../protocol/src/pinnedWorker.ts';
import { fingerprintOf, folderNameOf, parseIdentity } from '../../../remote-agent/src/worker/identity.ts';
import { parseInvitation, toInvitation } from '../../../remote-agent/src/worker/invitation.ts';
import { createLeaf, leafMs } from '../../../remote-agent/src/worker/leaf.ts';
import {
  createWorkerTransport,
  enrolAtWorker,
} from '../../../language-server/src/runners/worker/workerTransport.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { auditOf } from '../../support/workerHost.ts';
import { newIdentity, useWorkerRig } from '../../support/workerRig.ts';

const open = { signal: new AbortController().signal, mayAsk: false, onStep: () => undefined };
const hasCode = (code: string, words: RegExp) => (error: unknown) =>
  error instanceof UserError && error.code === code && words.test(error.message);

describe('a pinned worker', () => {
  const folder = useTemporaryFolder();
  const me = newIdentity();
  const rig = useWorkerRig(folder, me);

  const transport = (signer = me, pinned = rig().pinned) =>
    createWorkerTransport({ place: 'worker:lab', worker: pinned, signer, now: () => Date.now() });

  it('[WORKER-01] gives who is enrolled a stream to a runner of their own', async () => {
    const link = await transport().open(open);
    const bulk = await link.openBulk();
    const text = await new Promise((resolve) =>
      bulk.once('data', (chunk: Buffer) => resolve(chunk.toString())),
    );
    assert.equal(text, 'sallyport-bulk 1\n');
    bulk.destroy();
    link.close();
    assert.equal(new Set(rig().homes).size, 1);
    const other = newIdentity();
    rig().admit(other, 'other');
    (await transport(other).open(open)).close();
    assert.equal(new Set(rig().homes).size, 2);
  });

  it('[WORKER-02] T01 T02 T03: no certificate, another identity, another key than the one that was signed', async () => {
    assert.match((await rig().firstLine(undefined)) ?? '', /refused not-enrolled/);
    assert.match((await rig().firstLine(newIdentity())) ?? '', /refused not-enrolled/);
    // The issuer's name of an identity that is enrolled, signed by somebody else.
    const impostor = { spki: me.spki, sign: newIdentity().sign };
    assert.match((await rig().firstLine(impostor)) ?? '', /refused certificate/);
    const leaf = await createLeaf(me, Date.now());
    const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
    const otherKey = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
    assert.throws(
      () => connect({ port: rig().server.port, cert: leaf.cert, key: otherKey }),
      /key values mismatch/i,
    );
    // The control: the same client with what it should have is let in.
    assert.equal(await rig().firstLine(me), workerReadyLine);
    assert.deepEqual(rig().homes.length, 1);
  });

  it('[WORKER-02] T04: a session is never resumed', async () => {
    const leaf = await createLeaf(me, Date.now());
    const options = {
      host: '127.0.0.1',
      port: rig().server.port,
      ...leaf,
      rejectUnauthorized: false,
      ALPNProtocols: [workerProtocols.work],
    };
    const resumes = async (port: number) => {
      const session = await new Promise<Buffer | undefined>((resolve) => {
        const socket = connect({ ...options, port });
        let kept: Buffer | undefined;
        socket.on('session', (each: Buffer) => (kept = each)).on('error', () => undefined);
        socket.on('data', () => setImmediate(() => socket.destroy()));
        socket.once('close', () => resolve(kept));
      });
      return new Promise((resolve) => {
        const socket = connect({ ...options, port, ...(session ? { session } : {}) });
        socket.on('error', () => resolve('error'));
        socket.once('secureConnect', () => {
          resolve(socket.isSessionReused());
          socket.destroy();
        });
      });
    };
    assert.equal(await resumes(rig().server.port), false);
    // Control: an ordinary server gives a ticket, and the same client resumes by it.
    const ordinary = createServer({ ...leaf, ALPNProtocols: [workerProtocols.work] }, (socket) => {
      socket.on('error', () => undefined).write('hello\n');
    });
    await new Promise<void>((resolve) => ordinary.listen(0, '127.0.0.1', resolve));
    assert.equal(await resumes((ordinary.address() as AddressInfo).port), true);
    ordinary.close();
  });

  it('[WORKER-02] T05 T10: an older TLS, another application protocol, none', async () => {
    assert.equal(await rig().firstLine(me, { maxVersion: 'TLSv1.2' }), undefined);
    assert.equal(await rig().firstLine(me, { ALPNProtocols: ['http/1.1'] }), undefined);
    assert.match((await rig().firstLine(me, { ALPNProtocols: [] })) ?? '', /refused internal/);
    assert.deepEqual(rig().homes, []);
  });

  it('[WORKER-02] T05: nor after the certificate was renewed', async () => {
    const certificateOf = () =>
      new Promise<string>((resolve) => {
        const socket = connect({ host: '127.0.0.1', port: rig().server.port, rejectUnauthorized: false });
        socket.on('error', () => undefined);
        socket.once('secureConnect', () => {
          resolve(socket.getPeerX509Certificate()?.serialNumber ?? '');
          socket.destroy();
        });
      });
    await rig().stop();
    rig().renewMs = 50;
    await rig().start();
    const first = await certificateOf();
    await until(async () => (await certificateOf()) !== first);
    assert.equal(await rig().firstLine(me, { maxVersion: 'TLSv1.2' }), undefined);
    assert.equal(await rig().firstLine(me), workerReadyLine);
  });

  it('[WORKER-03] T06: the engine sends nothing to a worker of another identity', async () => {
    const other = newIdentity();
    await assert.rejects(
      transport(me, { ...rig().pinned, identity: other.spki.toString('base64') }).open(open),
      hasCode('host-key', /another identity|did not sign/),
    );
    assert.deepEqual(rig().homes.length, 0);
    // Somebody in between who has a certificate in the worker's name, and not its key.
    const known = rig().files.signer().spki;
    const leaf = await createLeaf({ spki: known, sign: other.sign }, Date.now());
    let heard = '';
    const server = createServer(
      { ...leaf, ALPNProtocols: [workerProtocols.work], requestCert: true, rejectUnauthorized: false },
      (socket) => {
        socket.write(`${workerReadyLine}\n`);
        socket.on('data', (chunk: Buffer) => (heard += chunk.toString())).on('error', () => undefined);
      },
    );
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    try {
      await assert.rejects(
        transport(me, { ...rig().pinned, port }).open(open),
        hasCode('host-key', /did not sign/),
      );
      assert.equal(heard, '');
    } finally {
      server.close();
    }
  });

  it('[WORKER-03] what answers nothing, or is something else, or is not there, is said as what it is', async () => {
    const silent = createTcpServer((socket) => void socket.on('error', () => undefined).resume());
    const other = createServer({ ...(await createLeaf(newIdentity(), Date.now())), ALPNProtocols: ['h2'] });
    const listen = async (server: Server) => {
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      return (server.address() as AddressInfo).port;
    };
    const ports = [await listen(silent), await listen(other)] as const;
    const at = (port: number, patience: { connectMs?: number } = {}) =>
      createWorkerTransport({
        place: 'worker:lab',
        worker: { ...rig().pinned, port },
        signer: me,
        now: () => Date.now(),
        ...patience,
      }).open(open);
    try {
      await assert.rejects(
        at(ports[0], { connectMs: 300 }),
        hasCode('unreachable', /did not answer in time/),
      );
      await assert.rejects(at(ports[1]), hasCode('unreachable', /no worker of this version/));
    } finally {
      silent.close();
      other.close();
    }
    await assert.rejects(at(ports[0]), hasCode('unreachable', /nothing listens there/));
  });

  it('[WORKER-03] a certificate whose time is over, or not come yet, is said as what it is', async () => {
    const late = () => Date.now() + 3 * leafMs;
    const pinned = rig().pinned;
    const fault = createWorkerTransport({ place: 'worker:lab', worker: pinned, signer: me, now: late });
    await assert.rejects(fault.open(open), hasCode('host-key', /expired/));
    assert.match(
      (await rig().firstLine({ ...me, sign: me.sign }, await createLeaf(me, Date.now() - 2 * leafMs))) ?? '',
      /refused certificate/,
    );
  });

  it('[WORKER-04] the list is read at each handshake: who is removed is refused from the next one on', async () => {
    assert.equal(await rig().firstLine(me), workerReadyLine);
    assert.equal(rig().files.remove(fingerprintOf(me.spki)), true);
    assert.match((await rig().firstLine(me)) ?? '', /refused not-enrolled/);
    await assert.rejects(transport().open(open), hasCode('sign-in', /does not know/));
  });

  it('[WORKER-04] a list that others can write lets nobody in', async () => {
    const list = join(rig().files.path, 'authorized_keys');
    for (const mode of [0o644, 0o660, 0o606]) {
      chmodSync(list, mode);
      assert.match((await rig().firstLine(me)) ?? '', /refused unsafe-files/, mode.toString(8));
    }
    chmodSync(list, 0o600);
    assert.equal(await rig().firstLine(me), workerReadyLine);
  });

  it('[WORKER-05] a code enrols once, within an hour, and only at the worker that it names', async () => {
    const friend = newIdentity();
    const fingerprint = fingerprintOf(rig().files.signer().spki);
    const at = { host: '127.0.0.1', port: rig().server.port, fingerprint };
    const secret = rig().files.invite(Date.now());
    const invitation = parseInvitation(toInvitation({ ...at, secret })) ?? assert.fail();
    const other = fingerprintOf(newIdentity().spki);
    await assert.rejects(
      enrolAtWorker({ ...invitation, fingerprint: other }, 'friend', friend, () => Date.now()),
      hasCode('host-key', /invitation names/),
    );
    const pinned = await enrolAtWorker(invitation, 'friend', friend, () => Date.now());
    assert.equal(await rig().firstLine(friend), workerReadyLine);
    (await transport(friend, pinned).open(open)).close();
    await assert.rejects(
      enrolAtWorker(invitation, 'again', newIdentity(), () => Date.now()),
      hasCode('sign-in', /invitation/),
    );
    const old = rig().files.invite(Date.now() - 61 * 60_000);
    await assert.rejects(
      enrolAtWorker({ ...invitation, secret: old }, 'late', newIdentity(), () => Date.now()),
      hasCode('sign-in', /invitation/),
    );
  });

  it('[WORKER-05] T07: a code is told to nobody who only says that they are the worker', async () => {
    const known = rig().files.signer().spki;
    const impostor = newIdentity();
    const leaf = await createLeaf(impostor, Date.now());
    const secret = rig().files.invite(Date.now());
    const invitation = { host: '127.0.0.1', port: 0, fingerprint: fingerprintOf(known), secret };
    for (const said of [known, impostor.spki, undefined]) {
      let heard = '';
      const server = createServer(
        { ...leaf, ALPNProtocols: [workerProtocols.enrol], requestCert: true, rejectUnauthorized: false },
        (socket) => {
          socket.on('error', () => undefined).on('data', (chunk: Buffer) => (heard += chunk.toString()));
          if (said) socket.write(`${enrolReadyLine} ${said.toString('base64')}\n`);
          else socket.end('refused code\n');
        },
      );
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      const { port } = server.address() as AddressInfo;
      try {
        await assert.rejects(
          enrolAtWorker({ ...invitation, port }, 'me', newIdentity(), () => Date.now()),
          (error: unknown) => error instanceof UserError && ['host-key', 'sign-in'].includes(error.code),
        );
        assert.equal(heard, '');
      } finally {
        server.close();
      }
    }
    await enrolAtWorker({ ...invitation, port: rig().server.port }, 'me', newIdentity(), () => Date.now());
  });

  it('[WORKER-05] wrong codes take nobody’s invitation away', async () => {
    const at = {
      host: '127.0.0.1',
      port: rig().server.port,
      fingerprint: fingerprintOf(rig().files.signer().spki),
    };
    const secret = rig().files.invite(Date.now());
    for (let turn = 0; turn < 20; turn += 1) {
      const wrong = createHash('sha256').update(String(turn)).digest('base64url');
      await assert.rejects(enrolAtWorker({ ...at, secret: wrong }, 'x', newIdentity(), () => Date.now()));
    }
    await enrolAtWorker({ ...at, secret }, 'x', newIdentity(), () => Date.now());
  });

  it('[WORKER-05] a code that many offer at once enrols one of them', async () => {
    const at = {
      host: '127.0.0.1',
      port: rig().server.port,
      fingerprint: fingerprintOf(rig().files.signer().spki),
    };
    const secret = rig().files.invite(Date.now());
    const all = await Promise.allSettled(
      Array.from({ length: 8 }, () => enrolAtWorker({ ...at, secret }, 'x', newIdentity(), () => Date.now())),
    );
    assert.equal(all.filter(({ status }) => status === 'fulfilled').length, 1);
    assert.equal(rig().files.members().length, 2);
  });

  it('[WORKER-05] T09: a key of small order is no identity', () => {
    const head = Buffer.from('302a300506032b6570032100', 'hex');
    // All of small order, and encodings of them that are not canonical, with either sign.
    const order = [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
      'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
      `ec${'ff'.repeat(30)}7f`,
      `ed${'ff'.repeat(30)}7f`,
      `ee${'ff'.repeat(30)}7f`,
    ].flatMap((point) => {
      const bytes = Buffer.from(point, 'hex');
      bytes[31] = (bytes[31] ?? 0) | 0x80;
      return [point, bytes.toString('hex')];
    });
    for (const point of order)
      assert.equal(parseIdentity(Buffer.concat([head, Buffer.from(point, 'hex')])), undefined, point);
    assert.ok(parseIdentity(newIdentity().spki));
  });

  it('[WORKER-06] who connects too often waits, and is in the log', async () => {
    await rig().stop();
    rig().perMinute = { member: 3, strangers: 2 };
    await rig().start();
    const lines = [];
    for (let turn = 0; turn < 5; turn += 1) lines.push(await rig().firstLine(me));
    assert.deepEqual(lines.slice(0, 3), [workerReadyLine, workerReadyLine, workerReadyLine]);
    assert.match(lines[4] ?? '', /refused too-often/);
    const mine = join('audit', `${folderNameOf(fingerprintOf(me.spki))}.log`);
    const log = readFileSync(join(rig().files.path, mine), 'utf8');
    assert.match(log, /"event":"connected","fingerprint":"SHA256:/);
    assert.match(log, /"event":"refused","refusal":"too-often"/);
    // What they do is in a file of their own, and what strangers and the keeper do is in others.
    assert.equal(await rig().firstLine(newIdentity()), 'refused not-enrolled');
    const impostor = { spki: me.spki, sign: newIdentity().sign };
    assert.equal(await rig().firstLine(impostor), 'refused certificate');
    const files = ['audit.log', 'audit/strangers.log', mine];
    const events = files.map((file) => [
      ...new Set(
        readFileSync(join(rig().files.path, file), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as { event: string; refusal?: string })
          .map(({ event, refusal = '' }) => `${event} ${refusal}`),
      ),
    ]);
    assert.deepEqual(events, [
      ['enrolled '],
      ['refused not-enrolled', 'refused certificate'],
      ['connected ', 'refused too-often'],
    ]);
  });

  it('[WORKER-06] T11: who says nothing is let go, in the handshake and after it', async () => {
    await rig().stop();
    rig().patienceMs = 1000;
    await rig().start();
    const certificate = await createLeaf(newIdentity(), Date.now());
    const { port } = rig().server;
    const silences: Socket[] = [
      createConnection({ host: '127.0.0.1', port }),
      connect({
        host: '127.0.0.1',
        port,
        rejectUnauthorized: false,
        ALPNProtocols: [workerProtocols.enrol],
        ...certificate,
      }),
    ];
    for (const socket of silences) socket.on('error', () => undefined).resume();
    await Promise.all(silences.map((socket) => new Promise((resolve) => socket.once('close', resolve))));
  });

  it('[WORKER-06] who was refused and does not close is closed', async () => {
    const socket = connect({
      host: '127.0.0.1',
      port: rig().server.port,
      rejectUnauthorized: false,
      allowHalfOpen: true,
      ALPNProtocols: [workerProtocols.work],
      ...(await createLeaf(newIdentity(), Date.now())),
    } as ConnectionOptions);
    let heard = '';
    socket.on('error', () => undefined).on('data', (chunk: Buffer) => (heard += chunk.toString()));
    let isClosed = false;
    socket.once('close', () => (isClosed = true));
    // It reads the end and goes on writing, which a connection that is gone answers with a reset.
    await until(() => {
      socket.write('x');
      return isClosed;
    });
    assert.match(heard, /^refused not-enrolled\n$/);
  });

  it('[WORKER-06] one address holds few connections that show nobody, and keeps no member out by them', async () => {
    await rig().stop();
    rig().atOnce = { member: 3, address: 4, unknown: 100 };
    rig().patienceMs = 10_000;
    await rig().start();
    const { port } = rig().server;
    const half = Array.from({ length: 12 }, () => createConnection({ host: '127.0.0.1', port }));
    let closed = 0;
    for (const socket of half)
      socket
        .on('error', () => undefined)
        .once('close', () => (closed += 1))
        .resume();
    await until(() => closed >= 8);
    // From elsewhere, as far as the worker can tell.
    assert.equal(
      await rig().firstLine(me, { localAddress: '127.0.0.2' } as ConnectionOptions),
      workerReadyLine,
    );
    await until(() => closed === 12);
    assert.equal(await rig().firstLine(me), workerReadyLine);
  });

  it('[WORKER-06] an identity holds so many connections at once, and gets more when it lets go', async () => {
    await rig().stop();
    rig().atOnce = { member: 3, address: 100, unknown: 100 };
    await rig().start();
    const links = [];
    for (let turn = 0; turn < 3; turn += 1) links.push(await transport().open(open));
    await assert.rejects(transport().open(open), hasCode('unreachable', /as many connections/));
    links[0]?.close();
    await until(async () => (await rig().firstLine(me)) === workerReadyLine);
    for (const link of links) link.close();
  });

  it('[WORKER-06] of many connections at once the first alone starts a runner', async () => {
    await rig().stop();
    let [asked, atOnce, most] = [0, 0, 0];
    await rig().start(async () => {
      asked += 1;
      atOnce += 1;
      most = Math.max(most, atOnce);
      await new Promise((resolve) => setImmediate(resolve));
      atOnce -= 1;
      throw new Error('no runner');
    });
    await Promise.all(Array.from({ length: 10 }, () => rig().firstLine(me)));
    assert.equal(asked, 10);
    assert.equal(most, 1);
  });

  it('[WORKER-06] what strangers do can’t fill the disk: the log counts what is alike', async () => {
    await rig().stop();
    rig().perMinute = { member: 600, strangers: 5 };
    await rig().start();
    const impostor = { spki: me.spki, sign: newIdentity().sign };
    for (let turn = 0; turn < 40; turn += 1)
      await rig().firstLine(turn % 2 === 0 ? impostor : newIdentity(), {
        localAddress: '127.0.0.1',
      } as ConnectionOptions);
    await rig().stop();
    const refused = auditOf(rig().files.path).filter(({ event }) => event === 'refused');
    assert.ok(refused.length < 12, String(refused.length));
    assert.equal(
      refused.reduce((sum, { times = 1 }) => sum + Number(times), 0),
      40,
    );
    await rig().start();
    // Who shows a member’s name without the key uses up nothing of that member’s.
    assert.equal(await rig().firstLine(me), workerReadyLine);
  });

  it('takes nothing for an invitation that is none', () => {
    const pin = 'A'.repeat(43);
    for (const text of [
      '',
      'https://x:1/#a.b',
      `sallyport-worker://h/#${pin}.${pin}`,
      `sallyport-worker://h:0/#${pin}.${pin}`,
      `sallyport-worker://-oProxy:1/#${pin}.${pin}`,
      `sallyport-worker://h:1/#${pin}.${pin}\nx`,
    ])
      assert.equal(parseInvitation(text), undefined, text);
    appendFileSync(join(rig().files.path, 'authorized_keys'), 'ed25519 rubbish\nnot a line\n');
    assert.equal(rig().files.members().length, 1);
  });
});

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readdirSync, statSync, symlinkSync } from 'node:fs';
import { createConnection, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { bulkCodes } from '../../../../protocol/src/bulkTransfer.ts';
import { Channel } from '../../../../protocol/src/channel.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { encodeFrame, FrameDecoder } from '../../../../protocol/src/framing.ts';
import { servedEvents, servedSide, streamOpenings } from '../../../../protocol/src/servedRunner.ts';
import { readEnvironment } from '../../../../remote-agent/src/environment.ts';
import { Leases } from '../../../../remote-agent/src/served/leases.ts';
import { openRunnerHome } from '../../../../remote-agent/src/served/runnerHome.ts';
import { serve } from '../../../../remote-agent/src/served/serve.ts';
import { listenAlone } from '../../../../remote-agent/src/served/soleSocket.ts';
import { createStdioTransport } from '../../../../language-server/src/runners/stdioTransport.ts';
import { ServedProcess } from '../../../support/servedRunner.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

describe('a runner that serves', () => {
  const folder = useTemporaryFolder();
  const running: ServedProcess[] = [];
  afterEach(async () => {
    for (const served of running.splice(0)) await served.stop('SIGKILL');
  });
  const start = async (): Promise<ServedProcess> => {
    const served = new ServedProcess(join(folder(), 'home'));
    running.push(served);
    await served.start();
    return served;
  };
  const connect = (served: ServedProcess): Promise<Socket> =>
    new Promise((resolve, reject) => {
      const socket = createConnection(served.socket);
      socket.on('error', reject);
      socket.once('connect', () => resolve(socket));
    });
  const answerOf = (socket: Socket): Promise<Buffer> =>
    new Promise((resolve) => {
      const chunks: Buffer[] = [];
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.once('close', () => resolve(Buffer.concat(chunks)));
    });

  it('keeps its folder, its socket and its journal to its own user [JRNL-05]', async () => {
    const served = await start();
    assert.equal(statSync(served.home).mode & 0o777, 0o700);
    for (const name of readdirSync(served.home).filter((each) => each.startsWith('socket-')))
      assert.equal(statSync(join(served.home, name)).mode & 0o777, 0o600);
    const link = join(folder(), 'link');
    symlinkSync(served.home, link);
    assert.throws(() => openRunnerHome(link, process.getuid?.() ?? -1), { code: 'unsafe-path' });
    assert.throws(() => openRunnerHome(served.home, 12_345), { code: 'unsafe-path' });
  });

  it('is the only one of its folder, however many start at once, and one that was killed keeps nobody out [JRNL-05]', async () => {
    const home = join(folder(), 'alone');
    mkdirSync(home);
    for (let round = 0; round < 3; round += 1) {
      const answers = await Promise.allSettled(
        Array.from({ length: 6 }, () => listenAlone(home, (socket) => socket.destroy())),
      );
      const won = answers.flatMap((each): Server[] => (each.status === 'fulfilled' ? [each.value] : []));
      assert.equal(won.length, 1);
      for (const each of answers)
        if (each.status === 'rejected') assert.match(String(each.reason), /serves here already/);
      await new Promise((resolve) => won[0]?.close(resolve));
    }
    const served = await start();
    const second = new ServedProcess(served.home);
    running.push(second);
    // What it waits for is the first one’s socket; it has ended by itself.
    await second.start().catch(() => undefined);
    await until(() => second.child?.exitCode === 3);
    await served.stop('SIGKILL');
    await served.start();
  });

  it('is not passed over while it is stopped and its queue is full [JRNL-05]', async () => {
    const program = `require('net').createServer().listen({ path: process.argv[1], backlog: 1 }, () => console.log('up'))`;
    const child = spawn(process.execPath, ['-e', program, join(folder(), 'socket-1')], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const waiting: Socket[] = [];
    try {
      await once(child.stdout, 'data');
      child.kill('SIGSTOP');
      let isFull = false;
      while (!isFull) {
        const socket = createConnection(join(folder(), 'socket-1'));
        waiting.push(socket);
        isFull = await new Promise((resolve) =>
          socket.once('connect', () => resolve(false)).once('error', () => resolve(true)),
        );
      }
      const outcome = await listenAlone(folder(), (socket) => socket.destroy()).then(
        (server) => {
          server.close();
          return 'it serves as well';
        },
        (error: unknown) => String(error),
      );
      assert.match(outcome, /serves here already/);
      assert.deepEqual(readdirSync(folder()), ['socket-1']);
    } finally {
      for (const socket of waiting) socket.destroy();
      child.kill('SIGKILL');
      await once(child, 'close');
    }
  });

  it('refuses another version of its language in words [JRNL-06]', async () => {
    const served = await start();
    const socket = await connect(served);
    socket.write(streamOpenings.control);
    const channel = new Channel(createStdioTransport(socket, socket), servedSide, {
      local: servedEvents,
      requestHandlers: { 'job/values': () => ({ values: [] }) },
      notificationHandlers: { 'job/event': () => undefined },
    });
    await assert.rejects(
      channel.call('runner/greet', { protocol: 99, engine: 'engine-1', leaseSeconds: 5 }),
      {
        code: 'incompatible',
        message: /version 1 .* 99/,
      },
    );
    await assert.rejects(channel.call('journal/list', {}), { code: 'bad-message', message: /not greeted/ });
    channel.close();
  });

  for (const [title, bytes] of [
    ['something else', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
    ['no line at all', Buffer.alloc(200, 0x61)],
    [
      'a bulk stream with an operation that is none',
      Buffer.concat([Buffer.from(streamOpenings.bulk), Buffer.alloc(64, 1)]),
    ],
    ['a frame of a negative length', Buffer.from(`${streamOpenings.control}Content-Length: -1\r\n\r\n`)],
    ['a frame of 2^31 bytes', Buffer.from(`${streamOpenings.control}Content-Length: 2147483648\r\n\r\n`)],
    ['a frame that is no JSON', Buffer.from(`${streamOpenings.control}Content-Length: 0\r\n\r\n`)],
  ] as const) {
    it(`closes a stream that begins with ${title}, and goes on [K10]`, async () => {
      const served = await start();
      const socket = await connect(served);
      const closed = answerOf(socket);
      socket.write(bytes);
      assert.equal((await closed).length, 0);
      assert.equal(served.child?.exitCode, null);
      assert.ok(await connect(served).then((again) => (again.destroy(), true)));
    });
  }

  it('takes a put apart into single bytes, refuses one whose bytes are others, and keeps the stream [K10]', async () => {
    const served = await start();
    const socket = await connect(served);
    const answers = answerOf(socket);
    const put = (content: Buffer, digest = createHash('sha256').update(content).digest()) => {
      const head = Buffer.alloc(41);
      head[0] = bulkCodes.put;
      digest.copy(head, 1);
      head.writeBigUInt64BE(BigInt(content.length), 33);
      return Buffer.concat([head, content]);
    };
    const good = Buffer.from('good bytes');
    const all = Buffer.concat([
      Buffer.from(streamOpenings.bulk),
      put(good),
      put(Buffer.from('other bytes'), createHash('sha256').update('what they are not').digest()),
      put(Buffer.alloc(0)),
    ]);
    for (const byte of all) socket.write(Buffer.of(byte));
    socket.end();
    const said = await answers;
    assert.equal(said[0], bulkCodes.stored);
    assert.equal(said[1], bulkCodes.failed);
    assert.match(said.toString('latin1', 6), /store-damaged/);
    assert.equal(said.at(-1), bulkCodes.stored);
    assert.equal(served.store.has(createHash('sha256').update('what they are not').digest('hex')), false);
    assert.deepEqual(served.store.readBytes(createHash('sha256').update(good).digest('hex')), good);
  });

  it('leaves nothing of a put that was cut at any byte [K10]', async () => {
    const served = await start();
    const content = Buffer.alloc(3000, 5);
    const digest = createHash('sha256').update(content).digest();
    const head = Buffer.alloc(41);
    head[0] = bulkCodes.put;
    digest.copy(head, 1);
    head.writeBigUInt64BE(3000n, 33);
    const all = Buffer.concat([Buffer.from(streamOpenings.bulk), head, content]);
    for (const length of [1, 16, 17, 40, 57, 58, 1000, all.length - 1]) {
      const socket = await connect(served);
      await new Promise<void>((resolve) => socket.end(all.subarray(0, length), () => resolve()));
      socket.destroy();
    }
    const asks = await connect(served);
    const answered = answerOf(asks);
    asks.end(Buffer.concat([Buffer.from(streamOpenings.bulk), Buffer.of(bulkCodes.get), digest]));
    assert.equal((await answered)[0], bulkCodes.failed);
    await until(() => readdirSync(join(served.home, 'blobs/incoming')).length === 0);
    assert.equal(served.store.has(digest.toString('hex')), false);
  });

  it('ends by itself when nobody has needed it for a while [JRNL-07]', async () => {
    const served = new ServedProcess(join(folder(), 'home'));
    running.push(served);
    await served.start([], ['--idle-seconds', '1']);
    await until(() => served.child?.exitCode === 0);
  });
});

describe('a runner that can’t greet', () => {
  const folder = useTemporaryFolder();

  it('makes room for one that may find what it lacked', async () => {
    const stop = new AbortController();
    const environment = readEnvironment();
    const problems: string[] = [];
    const served = serve(
      {
        home: join(folder(), 'home'),
        uid: environment.uid,
        parallel: 1,
        idleMs: 600_000,
        runner: {
          ...{ version: '0', environment, now: () => performance.now(), openCgroup: () => undefined },
          probe: () => Promise.reject(new UserError('disk-full', 'The disk is full')),
          onProblem: (doing, error) => problems.push(`${doing}: ${String(error)}`),
        },
      },
      stop.signal,
    );
    let isOver = false;
    void served.then(() => (isOver = true));
    try {
      await until(() => isOver);
      assert.match(problems.join(), /The disk is full/);
    } finally {
      stop.abort();
      await served;
    }
  });
});

describe('leases', () => {
  const folder = useTemporaryFolder();

  it('end once for an engine that says nothing for as long as it asked, and not for one that does [PLACE-06]', async () => {
    const ended: string[] = [];
    let now = 0;
    const leases = new Leases(
      () => now,
      (engine) => ended.push(engine),
    );
    leases.renew('silent', 0.05);
    leases.renew('alive', 0.05);
    now = 40;
    leases.renew('alive');
    now = 60;
    await until(() => ended.length > 0);
    assert.deepEqual(ended, ['silent']);
    assert.equal(leases.left('silent'), 0);
    assert.ok(leases.left('alive') > 0);
    leases.renew('silent');
    assert.equal(leases.left('silent'), 0);
    leases.dispose();
  });

  it('end in time also for one that asked for less than another before it [PLACE-06]', async () => {
    const ended: string[] = [];
    const leases = new Leases(
      () => performance.now(),
      (engine) => ended.push(engine),
    );
    leases.renew('patient', 3600);
    leases.renew('hasty', 0.05);
    await until(() => ended.length > 0);
    assert.deepEqual(ended, ['hasty']);
    leases.dispose();
  });

  it('go on for one that spoke while the runner stood still [PLACE-06]', async () => {
    const ended: string[] = [];
    const leases = new Leases(
      () => performance.now(),
      (engine) => ended.push(engine),
    );
    const home = join(folder(), 'still');
    mkdirSync(home);
    const heard = Promise.withResolvers<undefined>();
    const server = await listenAlone(home, (socket) => {
      socket.once('data', () => {
        leases.renew('alive');
        socket.destroy();
        heard.resolve(undefined);
      });
    });
    const socket = createConnection(join(home, 'runner.sock'));
    await new Promise<void>((resolve) => socket.once('connect', resolve));
    leases.renew('alive', 0.05);
    socket.write('still here');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    await heard.promise;
    assert.deepEqual(ended, []);
    leases.dispose();
    await new Promise((resolve) => server.close(resolve));
  });
});

describe('frames', () => {
  it('come out right from single bytes, from many in one chunk, and not at all from a bad length [K10]', () => {
    const messages = [{ text: 'x'.repeat(200_000) }, {}, { text: 'ü' }];
    const all = Buffer.concat(messages.map((each) => encodeFrame(each)));
    const single = new FrameDecoder();
    const heard = [...all].flatMap((byte) => single.push(Buffer.of(byte)));
    assert.deepEqual(heard, messages);
    assert.deepEqual(new FrameDecoder().push(all), messages);
    for (const length of ['0', '-1', '2147483648', '99999999999', 'NaN', '1e3', ''])
      assert.throws(
        () => new FrameDecoder().push(Buffer.from(`Content-Length: ${length}\r\n\r\n{}`)),
        length,
      );
  });
});

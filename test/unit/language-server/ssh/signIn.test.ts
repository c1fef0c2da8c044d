import assert from 'node:assert/strict';
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { createPrivateKey, generateKeyPairSync, randomBytes, sign } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import ssh2 from 'ssh2';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { SshSigner } from '../../../../language-server/src/runners/ssh/sshPerson.ts';
import { makeKey } from '../../../support/sshHost.ts';
import { FakePerson, sshParts, type SshSetup } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';
import { useSshHost } from '../../../support/useSshHost.ts';

const never = new AbortController().signal;

describe('signing in to a host', () => {
  const folder = useTemporaryFolder();
  const agents: ChildProcess[] = [];

  afterEach(async () => {
    for (const agent of agents.splice(0)) agent.kill();
  });
  const lab = useSshHost(folder);

  const open = async (more: Partial<SshSetup> = {}, identity = 'none', mayAsk = true): Promise<string> => {
    const config = lab.host
      .configBlock('lab')
      .replace(lab.host.userKey, identity)
      .replace('  IdentityAgent none\n', '');
    const parts = sshParts({ folder: join(folder(), 'here'), config, known: lab.host.knownLine(), ...more });
    const session = await parts.sessions.open('lab', { signal: never, mayAsk });
    const { stdout } = await session.connection.run('echo in');
    session.close();
    return stdout;
  };
  const refused = async (work: Promise<unknown>): Promise<UserError> => {
    try {
      await work;
    } catch (error) {
      assert.ok(error instanceof UserError);
      assert.equal(error.code, 'sign-in');
      return error;
    }
    return assert.fail('It signed in');
  };
  const startAgent = async (): Promise<string> => {
    const socket = join(folder(), 'agent');
    agents.push(spawn('ssh-agent', ['-D', '-a', socket], { stdio: 'ignore' }));
    await until(() => existsSync(socket));
    return socket;
  };
  const allow = (publicKey: string) =>
    appendFileSync(join(lab.host.folder, 'authorized_keys'), `${publicKey}\n`);

  it('tells apart no agent, one that does not answer, one without keys, and one with a key [K19]', async () => {
    assert.match((await refused(open())).message, /no agent/);
    assert.match((await refused(open({ agent: join(folder(), 'gone') }))).message, /does not answer/);
    const agent = await startAgent();
    assert.match((await refused(open({ agent }))).message, /agent has no keys/);
    execFileSync('ssh-add', ['-q', lab.host.userKey], { env: { ...process.env, SSH_AUTH_SOCK: agent } });
    assert.equal(await open({ agent }), 'in\n');
  });

  it('does not forward the agent [SSH-07]', async () => {
    const agent = await startAgent();
    execFileSync('ssh-add', ['-q', lab.host.userKey], { env: { ...process.env, SSH_AUTH_SOCK: agent } });
    const config = lab.host.configBlock('lab', ['ForwardAgent yes']).replace('  IdentityAgent none\n', '');
    const parts = sshParts({ folder: join(folder(), 'here'), config, known: lab.host.knownLine(), agent });
    const session = await parts.sessions.open('lab', { signal: never, mayAsk: false });
    const { stdout } = await session.connection.run('echo "[$SSH_AUTH_SOCK]"');
    session.close();
    assert.equal(stdout, '[]\n');
  });

  it('says how to convert a PKCS#8 key, and nothing of what is in it [K14]', async () => {
    const file = join(folder(), 'pkcs8');
    const { privateKey } = generateKeyPairSync('ed25519', {
      privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
      publicKeyEncoding: { type: 'spki', format: 'pem' },
    });
    writeFileSync(file, privateKey, { mode: 0o600 });
    const error = await refused(open({}, file));
    assert.match(error.message, /PKCS#8.*ssh-keygen -p/);
    const secret = privateKey.split('\n')[1] ?? '';
    assert.ok(secret.length > 20 && !error.message.includes(secret.slice(0, 12)));
  });

  it('asks for a passphrase, again where it was not the one, and three times at most [SSH-07]', async () => {
    const file = await makeKey(join(folder(), 'locked'), 'ed25519', 'open sesame');
    allow(readFileSync(`${file}.pub`, 'utf8').trim());
    const person = new FakePerson();
    person.answers = [['wrong'], ['open sesame']];
    assert.equal(await open({ person }, file), 'in\n');
    assert.deepEqual(
      person.secrets.map(({ kind, from }) => [kind, from]),
      [
        ['passphrase', file],
        ['passphrase', file],
      ],
    );
    person.answers = [['no'], ['no'], ['no'], ['open sesame']];
    assert.match((await refused(open({ person }, file))).message, /wrong passphrase/);
    assert.deepEqual(person.answers, [['open sesame']]);
    // Where nobody may be asked, nobody is.
    const before = person.secrets.length;
    await refused(open({ person }, file, false));
    assert.equal(person.secrets.length, before);
  });

  it('signs with a key that it never sees [SSH-07]', async () => {
    const { signer, line, calls } = ed25519Signer();
    await refused(open({ signers: [signer] }));
    allow(line);
    assert.equal(await open({ signers: [signer] }), 'in\n');
    assert.equal(calls(), 1);
  });
});

const code = { prompt: 'Code: ', echo: false };

describe('signing in to a host that asks', () => {
  const folder = useTemporaryFolder();
  let server: InstanceType<typeof ssh2.Server> | undefined;
  const asks: string[] = [];

  afterEach(() => {
    server?.close();
    asks.splice(0);
  });

  /** A host of our own that lets in whoever answers its questions. */
  const start = async (
    methods: readonly string[],
    secret: string,
    questions = [code, { prompt: 'Name: ', echo: true }],
  ): Promise<{ port: number; known: string }> => {
    const hostKey = ssh2.utils.generateKeyPairSync('ed25519');
    const made = new ssh2.Server({ hostKeys: [hostKey.private] }, (client) => {
      client.on('error', () => undefined);
      client.on('authentication', (context) => {
        asks.push(context.method);
        if (context.method === 'password' && methods.includes('password') && context.password === secret)
          context.accept();
        else if (context.method === 'keyboard-interactive' && methods.includes('keyboard-interactive'))
          context.prompt(questions, 'Second\u202e factor', 'Look', (answers) => {
            if (answers[0] === secret && answers[1] === 'who') context.accept();
            else context.reject([...methods] as never);
          });
        else context.reject([...methods] as never);
      });
      client.on('ready', () => {
        client.on('session', (accept) => {
          accept().on('exec', (take) => {
            const channel = take();
            channel.write('in\n');
            channel.exit(0);
            channel.end();
          });
        });
      });
    });
    server = made;
    await new Promise<void>((resolve) => made.listen(0, '127.0.0.1', resolve));
    const address = made.address();
    const port = address && typeof address === 'object' ? address.port : 0;
    const publicKey = hostKey.public.split(' ').slice(0, 2).join(' ');
    return { port, known: `[127.0.0.1]:${port} ${publicKey}\n` };
  };
  const open = async (
    at: { port: number; known: string },
    person: FakePerson,
    mayAsk = true,
  ): Promise<string> => {
    const config = `Host lab\n  HostName 127.0.0.1\n  Port ${at.port}\n  User who\n  IdentityFile none\n  IdentityAgent none\n`;
    const parts = sshParts({ folder: join(folder(), 'here'), config, known: at.known, person });
    const session = await parts.sessions.open('lab', { signal: never, mayAsk });
    const { stdout } = await session.connection.run('echo in');
    session.close();
    return stdout;
  };

  it('asks a password, three times at most [SSH-07]', async () => {
    const at = await start(['password'], 'right');
    const person = new FakePerson();
    person.answers = [['wrong'], ['right']];
    assert.equal(await open(at, person), 'in\n');
    person.answers = [['a'], ['b'], ['c'], ['right']];
    await assert.rejects(open(at, person), { code: 'sign-in' });
    assert.deepEqual(person.answers, [['right']]);
  });

  it('hands the host’s questions on as they are, with which answers may be seen [SSH-07]', async () => {
    const at = await start(['keyboard-interactive'], '123456');
    const person = new FakePerson();
    person.answers = [['123456', 'who']];
    assert.equal(await open(at, person), 'in\n');
    assert.deepEqual(person.secrets, [
      {
        from: '127.0.0.1',
        kind: 'keyboard-interactive',
        instructions: 'Second\u202e factor\nLook',
        prompts: [
          { text: 'Code: ', echo: false },
          { text: 'Name: ', echo: true },
        ],
      },
    ]);
  });

  for (const [title, questions, isAsked] of [
    ['more questions than anybody answers', Array.from({ length: 17 }, () => code), false],
    ['a question of more than anybody reads', [{ prompt: 'x'.repeat(5000), echo: false }], false],
    ['as many questions as may be (control)', Array.from({ length: 16 }, () => code), true],
  ] as const)
    it(`a host that asks ${title} ${isAsked ? 'is handed on' : 'asks nobody'} [SSH-08]`, async () => {
      const at = await start(['keyboard-interactive'], 'right', [...questions]);
      const person = new FakePerson();
      await assert.rejects(open(at, person), {
        code: 'sign-in',
        message: isAsked ? /questions were not answered/ : /asked more than anybody answers/,
      });
      assert.equal(person.secrets.length > 0, isAsked);
    });

  it('sends nothing where a person declines, or may not be asked [SSH-07]', async () => {
    const at = await start(['password'], 'right');
    const person = new FakePerson();
    await assert.rejects(open(at, person), { code: 'sign-in', message: /no password was given/ });
    assert.equal(person.secrets.length, 1);
    assert.ok(!asks.includes('password'));
    await assert.rejects(open(at, person, false), { code: 'sign-in' });
    assert.equal(person.secrets.length, 1);
  });

  it('gives a person their time: a limit for the host does not run while they are asked [SSH-07]', async () => {
    const at = await start(['password'], 'right');
    const person = new FakePerson();
    const slow: FakePerson = Object.assign(person, {
      askSecret: async () => {
        await new Promise((resolve) => setTimeout(resolve, 11_000));
        return ['right'];
      },
    });
    const config = `Host lab\n  HostName 127.0.0.1\n  Port ${at.port}\n  User who\n  IdentityFile none\n  IdentityAgent none\n`;
    const times = { connectMs: 10_000, keepaliveMs: 60_000 };
    const parts = sshParts({ folder: join(folder(), 'here'), config, known: at.known, person: slow, times });
    const session = await parts.sessions.open('lab', { signal: never, mayAsk: true });
    session.close();
  });
});

function ed25519Signer(): { signer: SshSigner; line: string; calls: () => number } {
  let calls = 0;
  const { privateKey, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ type: 'spki', format: 'der' }).subarray(-32);
  const part = (bytes: Buffer) => {
    const length = Buffer.alloc(4);
    length.writeUInt32BE(bytes.length);
    return Buffer.concat([length, bytes]);
  };
  const wire = Buffer.concat([part(Buffer.from('ssh-ed25519')), part(raw)]);
  const own = createPrivateKey(privateKey.export({ type: 'pkcs8', format: 'pem' }));
  return {
    signer: {
      name: `key ${randomBytes(2).toString('hex')}`,
      publicKey: wire,
      sign: (data) => {
        calls += 1;
        return Promise.resolve(sign(null, data, own));
      },
    },
    line: `ssh-ed25519 ${wire.toString('base64')}`,
    calls: () => calls,
  };
}

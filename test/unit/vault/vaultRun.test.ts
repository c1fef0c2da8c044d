import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, fstatSync, openSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentsVault } from '../../../extension/src/vault/core/agentsVault.ts';
import { createPersonalVault, openPersonalVault } from '../../../extension/src/vault/core/personalVault.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import { parseRunArguments, VaultUsageError } from '../../../extension/src/vault/run/arguments.ts';
import { childEnvironment } from '../../../extension/src/vault/run/childEnvironment.ts';
import { descriptorReader } from '../../../extension/src/vault/run/readKeys.ts';
import { runVaultCommand } from '../../../extension/src/vault/run/vaultCommand.ts';
import { removedMark } from '../../../protocol/src/scrub/scrubber.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { quickDerivation } from '../../support/vaultHarness.ts';

const token = 'canary-77/Aa+Bb==29x';
const password = 'correct horse battery';

describe('vault run', () => {
  const temporary = useTemporaryFolder();
  let secretKey: string;

  beforeEach(async () => {
    const place = { folder: join(temporary(), 'vault', 'personal'), counters: null, derive: quickDerivation };
    using typed = Secret.fromText(password);
    const created = await createPersonalVault(place, typed);
    secretKey = created.secretKey;
    for (const [id, text] of [
      ['api', token],
      ['tiny', 'abc12'],
      ['key', `-----BEGIN\n${'Mq'.repeat(30)}\n-----END\n`],
    ] as const) {
      using value = Secret.fromText(text);
      await created.vault.save({
        id,
        baseVersion: 0,
        title: id,
        kind: 'token',
        fields: [{ name: 'token', kind: 'secret', value }],
        hosts: [],
        tags: [],
        expiresAt: null,
      });
    }
    created.vault.lock();
  });

  const run = async (
    argv: readonly string[],
    { keys = `${password}\n${secretKey}\n`, variables = process.env as Record<string, string> } = {},
  ) => {
    const file = join(temporary(), 'keys');
    writeFileSync(file, keys, { mode: 0o600 });
    const descriptor = openSync(file, 'r');
    const said = { output: [] as Uint8Array[], errors: [] as Uint8Array[] };
    const sink = (list: Uint8Array[]) => ({
      write: (chunk: string | Uint8Array) => {
        list.push(typeof chunk === 'string' ? Buffer.from(chunk) : Uint8Array.from(chunk));
        return true;
      },
    });
    const [verb = '', ...rest] = argv;
    const code = await runVaultCommand([verb, '--keys-fd', String(descriptor), ...rest], {
      home: temporary(),
      variables,
      output: sink(said.output),
      errors: sink(said.errors),
      folder: temporary(),
      input: 'ignore',
      platform: process.platform,
      derive: quickDerivation,
    });
    return {
      code,
      output: Buffer.concat(said.output).toString(),
      errors: Buffer.concat(said.errors).toString(),
    };
  };
  const sh = (script: string) => ['--', '/bin/sh', '-c', script];

  it('[VAULTUSE-15] gives the values in the environment of one command, and shows none of them', async () => {
    const { code, output, errors } = await run([
      'run',
      '--env',
      'TOKEN=api.token',
      '--env',
      'KEY=key.token',
      ...sh(
        'echo "t=$TOKEN"; printf %s "$TOKEN" | base64; echo "$KEY" >&2; printf %s "$TOKEN" | od -An -tx1 | tr -d " \\n"; test ${#TOKEN} = 20 && exit 7',
      ),
    ]);
    assert.equal(code, 7);
    assert.match(output, new RegExp(`^t=${removedMark.replace(/[[\]]/g, '\\$&')}\n`));
    assert.ok(!/canary|Y2FuYXJ5|63616e617279/.test(output + errors), output);
    assert.ok(!errors.includes('MqMqMq'), errors);
    assert.match(errors, /stops accidents only/);
  });

  it('[SEAL-03] uses nothing of a whole older vault that was put back, and leaves it as it is', async () => {
    const words = ['run', '--env', 'TOKEN=api.token', ...sh('echo ran')];
    const folder = join(temporary(), 'vault', 'personal');
    const kept = join(temporary(), 'kept');
    cpSync(folder, kept, { recursive: true });
    assert.equal((await run(words)).output, 'ran\n');
    // The use itself was a change of the vault.
    rmSync(folder, { recursive: true });
    cpSync(kept, folder, { recursive: true });
    const before = readFileSync(join(folder, 'vault.json'), 'latin1');
    const refused = await run(words);
    assert.equal(refused.code, 3);
    assert.equal(refused.output, '');
    assert.match(refused.errors, /a whole older one \(change \d+, and \d+ was seen here\)/);
    assert.equal(readFileSync(join(folder, 'vault.json'), 'latin1'), before);
    // The control: with what was kept of it put back as well, nothing can be noticed.
    rmSync(join(temporary(), 'vault-counters'), { recursive: true });
    assert.equal((await run(words)).output, 'ran\n');
  });

  it('[SEAL-03] uses nothing where it can’t tell whether the vault is the newest', async () => {
    const words = ['run', '--env', 'TOKEN=api.token', ...sh('echo ran')];
    await run(words);
    const counters = join(temporary(), 'vault-counters');
    for (const name of readdirSync(counters)) writeFileSync(join(counters, name), 'nonsense');
    const refused = await run(words);
    assert.equal(refused.code, 3);
    assert.match(refused.errors, /can’t be told/);
  });

  it('[VAULTUSE-15] puts no value among the words of a process, and none of our own variables in', async () => {
    const variables = {
      PATH: process.env['PATH'] ?? '',
      SALLYPORT_HOME: '/x',
      VSCODE_IPC: '/y',
      GITHUB_TOKEN: 'z',
      MINE: 'm',
      NODE_OPTIONS: '--x',
    };
    const { output } = await run(
      [
        'run',
        '--env',
        'TOKEN=api.token',
        '--pass',
        'MINE',
        '--pass',
        'SALLYPORT_HOME',
        ...sh('ps -eo args | grep -c "[c]anary-77"; env | cut -d= -f1 | sort | tr "\\n" " "; ulimit -c'),
      ],
      { variables },
    );
    const [found, names = '', core] = output.trim().split(/\n| (?=[0-9]+$)/);
    assert.equal(found, '0');
    const own = names
      .split(' ')
      .filter((name) => !['PWD', 'OLDPWD', 'SHLVL', '_'].includes(name) && name !== '');
    assert.deepEqual(own, ['MINE', 'PATH', 'TOKEN']);
    assert.equal(core, '0');
  });

  it('[VAULTUSE-15] writes a line for each value before the command has it', async () => {
    await run(['run', '--env', 'TOKEN=api.token', ...sh('true')]);
    using typed = Secret.fromText(password);
    const opened = await openPersonalVault(
      { folder: join(temporary(), 'vault', 'personal'), counters: null, derive: quickDerivation },
      { password: typed, secretKey },
    );
    assert.ok(opened.state === 'open');
    const [line] = opened.vault.uses();
    assert.deepEqual([line?.principal, line?.item, line?.field], ['command', 'api', 'token']);
    opened.vault.lock();
  });

  it('opens the agents’ vault by its recovery key, and leaves its device key as it is', async () => {
    const place = { folder: join(temporary(), 'vault', 'agents'), counters: null, derive: quickDerivation };
    using deviceKey = Secret.own(Buffer.alloc(32, 7));
    const { vault, recoveryKey } = await createAgentsVault(place, deviceKey);
    using value = Secret.fromText(token);
    await vault.save({
      id: 'db',
      baseVersion: 0,
      title: 'DB',
      kind: 'database',
      fields: [{ name: 'password', kind: 'secret', value }],
      hosts: [],
      tags: [],
      expiresAt: null,
    });
    vault.lock();
    const { code, output } = await run(
      ['run', '--vault', 'agents', '--env', 'DB=db.password', ...sh('echo "$DB"')],
      { keys: `${recoveryKey}\n` },
    );
    assert.deepEqual([code, output], [0, `${removedMark}\n`]);
    const header = readFileSync(join(place.folder, 'vault.json'), 'utf8');
    assert.ok(header.includes('device'));
  });

  const refusals: readonly [string, readonly string[], object, number, RegExp][] = [
    ['a wrong password', ['--env', 'T=api.token'], { keys: 'wrong password\n' }, 5, /could not read/],
    ['no keys', ['--env', 'T=api.token'], { keys: '' }, 5, /could not read/],
    ['an item that is none', ['--env', 'T=gone.token'], {}, 3, /There is no gone\.token.*api\.\{token\}/],
    ['a value too short to be taken out', ['--env', 'T=tiny.token'], {}, 3, /shorter than six characters/],
  ];
  for (const [name, options, given, code, words] of refusals) {
    it(`[VAULTUSE-02] runs nothing with ${name}`, async () => {
      const result = await run(['run', ...options, ...sh('echo ran')], given);
      assert.equal(result.code, code, result.errors);
      assert.match(result.errors, words);
      assert.equal(result.output, '');
    });
  }

  it('says that a password does not fit, and waits after some', async () => {
    const wrong = { keys: `wrong password\n${secretKey}\n` };
    const first = await run(['run', '--env', 'T=api.token', ...sh('echo ran')], wrong);
    assert.deepEqual([first.code, first.output], [3, '']);
    assert.match(first.errors, /does not fit/);
  });

  it('says what could not be started, without the values', async () => {
    const { code, errors } = await run(['run', '--env', 'T=api.token', '--', '/no/such/program', '$T']);
    assert.ok(code === 126 || code === 127);
    assert.ok(!errors.includes('canary'));
  });

  const bad: readonly (readonly string[])[] = [
    [],
    ['run'],
    ['run', '--', 'env'],
    ['run', '--env', 'T=api.token'],
    ['run', '--env', 'T=api.token', '--'],
    ['run', '--env', `T=${token}`, '--', 'env'],
    ['run', '--env', 'PATH=api.token', '--', 'env'],
    ['run', '--env', 'LD_PRELOAD=api.token', '--', 'env'],
    ['run', '--env', 'A B=api.token', '--', 'env'],
    ['run', '--env', 'T=api.token', '--vault', 'other', '--', 'env'],
    ['run', '--env', 'T=api.token', '--keys-fd', 'x', '--', 'env'],
    ['run', '--password', token, '--env', 'T=api.token', '--', 'env'],
  ];
  for (const argv of bad) {
    it(`does not take ${JSON.stringify(argv).replaceAll(token, '…')}`, () => {
      assert.throws(
        () => parseRunArguments(argv),
        (error) => error instanceof VaultUsageError && !error.message.includes(token),
      );
    });
  }

  it('closes the descriptor of the keys, so that no command inherits it', async () => {
    const file = join(temporary(), 'keys');
    writeFileSync(file, 'one\r\ntwo\n');
    const descriptor = openSync(file, 'r');
    const reader = descriptorReader(descriptor);
    assert.equal((await reader.read('')).length, 3);
    reader.close();
    assert.throws(() => fstatSync(descriptor), { code: 'EBADF' });
  });

  it('leaves what is after -- to the command', () => {
    const { command } = parseRunArguments(['run', '--env', 'T=api.token', '--', 'git', '--', '--env', 'x']);
    assert.deepEqual(command, ['git', '--', '--env', 'x']);
  });

  it('builds an environment from empty', () => {
    const made = childEnvironment(
      { PATH: '/bin', LC_ALL: 'C', SSH_AUTH_SOCK: '/a', AWS_SECRET_ACCESS_KEY: 'x', VSCODE_PID: '1', X: '1' },
      ['X', 'VSCODE_PID', 'gone'],
      new Map([['T', 'v']]),
    );
    assert.deepEqual(made, { PATH: '/bin', LC_ALL: 'C', X: '1', T: 'v' });
  });

  it('[VAULTUSE-15] asks at the terminal and echoes nothing of what is typed', function () {
    if (process.platform !== 'linux') {
      console.log('      skipped: the terminal is made with Linux’ pty');
      this.skip();
    }
    const out = execFileSync(
      'python3',
      [
        join(import.meta.dirname, '../../support/typeKeys.py'),
        process.execPath,
        join(import.meta.dirname, '../../support/readKeys.ts'),
      ],
      { encoding: 'utf8' },
    );
    assert.match(out, /Password: [\r\n]+Secret Key: [\r\n]+read 13 and 9/);
    assert.ok(!out.includes('hidden'), out);
  });
});

import assert from 'node:assert/strict';
import { appendFileSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Vault } from '../../../../extension/src/vault/core/vaultContract.ts';
import { SshDesk } from '../../../../extension/src/vault/sshDesk.ts';
import { askSshPerson, type AskPerson } from '../../../../language-server/src/runners/places/askSshPerson.ts';
import type { SshPerson } from '../../../../language-server/src/runners/ssh/sshPerson.ts';
import { openSshSessions } from '../../../../language-server/src/runners/ssh/openSshTransport.ts';
import { makeKey } from '../../../support/sshHost.ts';
import { sshAround } from '../../../support/sshPlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { useSshHost } from '../../../support/useSshHost.ts';
import { VaultHarness } from '../../../support/vaultHarness.ts';

const never = new AbortController().signal;

/** The engine's part, the vault's part and a real sshd, joined by what both sides would send. */
describe('signing in with a key of the vault', () => {
  const folder = useTemporaryFolder();
  let harness: VaultHarness;
  let vault: Vault;
  let answer: 'accepted' | 'declined';
  let reviewed: number;
  /** Everything that went to the engine or came from it. */
  let wire: string[];

  beforeEach(async () => {
    harness = new VaultHarness();
    vault = await harness.create();
    await vault.generateKeyPair({ id: 'lab', title: 'Lab key', hosts: [], tags: [], expiresAt: null });
    answer = 'accepted';
    reviewed = 0;
    wire = [];
  });
  afterEach(() => harness.close());
  const lab = useSshHost(folder);

  const person = (change: (data: Buffer) => Buffer = (data) => data): SshPerson => {
    const desk = new SshDesk({
      openVaults: async () => [vault],
      review: async (id) => {
        reviewed++;
        await vault.answer(id, answer);
      },
      now: () => harness.now,
    });
    const ask = async (method: string, params: never): Promise<unknown> => {
      wire.push(JSON.stringify(params));
      const said = await answerOf(method, params);
      wire.push(JSON.stringify(said));
      return said;
    };
    const answerOf = async (method: string, params: never): Promise<unknown> => {
      if (method === 'vault/sshKeys') return desk.keys(params);
      if (method !== 'vault/sshSign') throw new Error('Nobody is there');
      const { data, ...rest } = params as { data: string };
      const changed = change(Buffer.from(data, 'base64')).toString('base64');
      return desk.sign({ ...rest, data: changed } as never, never);
    };
    return askSshPerson({ ask } as unknown as AskPerson, 'ssh:lab');
  };
  const open = async (mayAsk = true, as = person(), identity = 'none'): Promise<string> => {
    const config = lab.host.configBlock('lab').replace(lab.host.userKey, identity);
    const { around, ownKnownHosts } = sshAround({
      folder: join(folder(), 'here'),
      config,
      known: lab.host.knownLine(),
    });
    const sessions = openSshSessions({ around, trustFile: ownKnownHosts, person: as });
    const session = await sessions.open('lab', { signal: never, mayAsk });
    const { stdout } = await session.connection.run('echo in');
    session.close();
    return stdout;
  };
  const line = async (): Promise<string> => {
    using text = await vault.open('lab', 'public-key');
    return text.use((bytes) => bytes.toString('utf8'));
  };
  const letIn = async (): Promise<void> =>
    appendFileSync(join(lab.host.folder, 'authorized_keys'), `${await line()}\n`);

  it('[VAULTUSE-16] signs in after one question, and nothing of the key leaves the vault', async () => {
    await letIn();
    assert.equal(await open(), 'in\n');
    assert.equal(await open(false), 'in\n');
    assert.equal(reviewed, 1);
    assert.equal(vault.uses().length, 2);
    assert.match(vault.uses()[0]?.host ?? '', new RegExp(`@127\\.0\\.0\\.1:${lab.host.port}$`));
    using pem = await vault.open('lab', 'private-key');
    const body = pem.use((bytes) => bytes.toString('utf8')).split('\n')[1] ?? '';
    const seed = Buffer.from(body, 'base64').subarray(-32);
    assert.equal(seed.length, 32);
    const text = wire.join('\n');
    for (const form of ['base64', 'hex', 'latin1'] as const) assert.ok(!text.includes(seed.toString(form)));
    // The control: the public half, which does go there, is found in the same way.
    assert.ok(text.includes((await line()).split(' ')[1] ?? '?'));
  });

  it('[VAULTUSE-16] asks for no signature that the host would not take (control)', async () => {
    await assert.rejects(open(), { code: 'sign-in', message: /keys of the vault: Lab key/ });
    assert.deepEqual([reviewed, vault.uses()], [0, []]);
  });

  it('[VAULTUSE-16] a no is said, and another way is tried', async () => {
    await letIn();
    answer = 'declined';
    await assert.rejects(open(), { code: 'sign-in', message: /was not allowed to sign in to ssh:lab/ });
    assert.deepEqual(vault.uses(), []);
    const file = await makeKey(join(folder(), 'other'), 'ed25519');
    appendFileSync(join(lab.host.folder, 'authorized_keys'), `${readFileSync(`${file}.pub`, 'utf8')}\n`);
    assert.equal(await open(true, person(), file), 'in\n');
  });

  it('[VAULTUSE-16] asks nobody where nobody may be asked', async () => {
    await letIn();
    await assert.rejects(open(false), { code: 'sign-in' });
    assert.deepEqual([reviewed, vault.grants()], [0, []]);
  });

  it('[VAULTUSE-16] a request that says anything else gets no signature', async () => {
    await letIn();
    const other = person((data) => Buffer.concat([data, Buffer.of(0)]));
    await assert.rejects(open(true, other), { code: 'sign-in', message: /no request to sign in/ });
    assert.deepEqual([reviewed, vault.uses()], [0, []]);
    // The control: as it was made, it does.
    assert.equal(await open(), 'in\n');
  });
});

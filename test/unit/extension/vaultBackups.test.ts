import assert from 'node:assert/strict';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Presence } from '../../../extension/src/presence/presence.ts';
import type { PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { ProofDesk } from '../../../extension/src/presence/proofDesk.ts';
import { AgentsLife } from '../../../extension/src/vault/life/agentsLife.ts';
import { PersonalLife } from '../../../extension/src/vault/life/personalLife.ts';
import { Vaults } from '../../../extension/src/vault/life/vaults.ts';
import { VaultSecrets } from '../../../extension/src/vault/life/vaultSecrets.ts';
import { VaultBackups } from '../../../extension/src/vault/ui/vaultBackups.ts';
import { VaultDoors } from '../../../extension/src/vault/ui/vaultDoors.ts';
import { MemorySecrets } from '../../support/memorySecrets.ts';
import { sampleDraft } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

const passphrase = 'correct horse battery staple';

describe('Backups of a vault, as a person makes and restores them', () => {
  const folder = useTemporaryFolder();
  let notices: Notice[];
  let acts: PresenceAct[];
  let isHere: boolean;
  const machines: Vaults[] = [];

  beforeEach(() => {
    resetStub();
    stub.answers = ['I Have It on Paper'];
    notices = [];
    acts = [];
    isHere = true;
  });
  afterEach(() => {
    for (const machine of machines.splice(0)) machine.dispose();
  });

  /** A machine with its own folders and secret storage. */
  function machine(name: string) {
    const fail = (error: unknown): void => assert.fail(String(error));
    const secrets = new VaultSecrets(new MemorySecrets(), 1000);
    const places = {
      agents: { folder: join(folder(), name, 'agents'), counters: secrets },
      personal: { folder: join(folder(), name, 'personal'), counters: secrets },
    };
    const agents = new AgentsLife({
      place: places.agents,
      secrets,
      marker: { get: () => 'none', set: async () => undefined },
      onError: fail,
    });
    const personal = new PersonalLife({
      place: places.personal,
      lockAfterMinutes: () => 10,
      now: Date.now,
      every: () => ({ dispose: () => undefined }),
      onError: fail,
    });
    const vaults = new Vaults(agents, personal, fail);
    machines.push(vaults);
    const desk = new ProofDesk(() => 0);
    const person = {
      prove: async (act: PresenceAct) => {
        acts.push(act);
        return isHere ? desk.issue(act, 0) : undefined;
      },
      spend: (proof, act) => desk.spend(proof, act),
    } satisfies Pick<Presence, 'prove' | 'spend'> as unknown as Presence;
    const notifier = { show: (notice: Notice) => void notices.push(notice), showError: fail };
    const doors = new VaultDoors({ vaults, secrets, person, notifier });
    return { agents, places, backups: new VaultBackups({ vaults, places, person, notifier, doors }) };
  }

  async function answering(work: Promise<unknown>, answers: readonly string[]): Promise<void> {
    const known = stub.boxes.length;
    for (const [at, answer] of answers.entries()) {
      await until(() => stub.boxes.length > known + at && stub.boxes[known + at]?.isShown === true);
      stub.boxes[known + at]?.enter(answer);
    }
    await work;
  }

  /** A machine with one item, and a backup of it. */
  async function backedUp(name: string, value: string) {
    const from = machine(name);
    await from.agents.create();
    const vault = await from.agents.open();
    assert.ok(vault);
    await vault.save(sampleDraft(`item-${name}`, { value }));
    const path = join(folder(), `${name}.vault`);
    stub.files = [path];
    await answering(from.backups.backUp(vault), [passphrase, passphrase]);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    return { ...from, vault, path };
  }

  async function restore(
    to: ReturnType<typeof machine>,
    path: string,
    chosen = 'Restore this backup',
  ): Promise<void> {
    stub.files = [path];
    stub.chosen = [chosen];
    await answering(to.backups.restore(), [passphrase]);
  }

  it('[VAULTUI-08] shows names alone, and restores nothing that was only looked at', async () => {
    const { path } = await backedUp('a', 'canary-value-1');
    const other = machine('b');
    await restore(other, path, 'nothing');
    const lines = stub.lists.at(-1)?.map(({ label }) => label) ?? [];
    assert.ok(lines.includes('ITEM-A'));
    assert.doesNotMatch(JSON.stringify([stub.lists, notices]), /canary/);
    assert.ok(!existsSync(join(other.places.agents.folder, 'vault.json')));
  });

  it('[VAULTUI-08] restores on an empty machine without presence, under a key of that machine', async () => {
    const { path } = await backedUp('a', 'canary-value-1');
    const other = machine('b');
    await restore(other, path);
    const vault = await other.agents.open();
    using value = await vault?.open('item-a', 'value');
    assert.equal(
      value?.use((bytes) => bytes.toString()),
      'canary-value-1',
    );
    assert.deepEqual(acts, []);
    await other.agents.retry();
    assert.equal(other.agents.status.state, 'open', 'its device key was kept');
  });

  for (const why of ['foreign', 'stale'] as const) {
    it(`[VAULTUI-08] restores one that is ${why} with presence for this file alone, and sets what was there aside`, async () => {
      const first = await backedUp('a', 'canary-value-1');
      const to = why === 'stale' ? first : await backedUp('b', 'canary-value-2');
      if (why === 'stale') await first.vault.save(sampleDraft('later', { value: 'canary-value-3' }));
      const names = () =>
        to.agents.status.state === 'open' ? to.agents.status.vault.list().map(({ id }) => id) : [];
      const before = names();
      isHere = false;
      await restore(to, first.path);
      assert.deepEqual(names(), before, 'nothing happened without presence');
      await to.agents.retry();
      assert.equal(to.agents.status.state, 'open', 'and its device key opens it still');
      isHere = true;
      await restore(to, first.path);
      assert.deepEqual(names(), ['item-a']);
      const [act] = acts;
      assert.ok(act?.name === 'restore' && act.why === why && act.path === first.path);
      assert.match(act.digest, /^[0-9a-f]{64}$/);
      assert.ok(readdirSync(to.places.agents.folder).some((name) => name.startsWith('replaced-')));
    });
  }
});

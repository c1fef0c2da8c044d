import assert from 'node:assert/strict';
import { existsSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Notice } from '../../../extension/src/messages.ts';
import type { Presence } from '../../../extension/src/presence/presence.ts';
import type { PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { ProofDesk } from '../../../extension/src/presence/proofDesk.ts';
import { Secret } from '../../../extension/src/vault/core/secret.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { VaultClipboard } from '../../../extension/src/vault/ui/clipboard.ts';
import { exportItems } from '../../../extension/src/vault/ui/exportItems.ts';
import { importItems } from '../../../extension/src/vault/ui/importItems.ts';
import { variableOf } from '../../../extension/src/vault/ui/runCommand.ts';
import { showValue } from '../../../extension/src/vault/ui/showValue.ts';
import { shredFile } from '../../../extension/src/vault/ui/shredFile.ts';
import { VaultItems } from '../../../extension/src/vault/ui/vaultItems.ts';
import { sampleAgentsVault, sampleDraft } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

describe('What a person does with the vault', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let notices: Notice[];
  let acts: PresenceAct[];
  /** What happens while the person proves to be there; false is turning it away. */
  let whileAsked: () => Promise<boolean>;
  let items: VaultItems;
  let clipboard: VaultClipboard;
  const notifier = {
    show: (notice: Notice) => void notices.push(notice),
    showError: (error: unknown) => assert.fail(String(error)),
  };
  const desk = new ProofDesk(() => 0);
  const person = {
    prove: async (act: PresenceAct) => {
      acts.push(act);
      return (await whileAsked()) ? desk.issue(act, 0) : undefined;
    },
    spend: (proof, act) => desk.spend(proof, act),
  } satisfies Pick<Presence, 'prove' | 'spend'> as unknown as Presence;

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('db', { password: 'canary-value-1' }));
    notices = [];
    acts = [];
    whileAsked = async () => true;
    clipboard = new VaultClipboard();
    items = new VaultItems({ person, notifier, clipboard });
  });
  afterEach(() => {
    clipboard.dispose();
    vault.lock();
  });
  const item = () => vault.get('db') ?? assert.fail('it is gone');
  const file = (name: string) => join(folder(), name);

  it('[VAULTUI-02] shows the value that was confirmed, and clears the box with it', async () => {
    const shown = items.reveal(vault, item(), 'password');
    await until(() => stub.boxes.length === 1);
    const [box] = stub.boxes;
    assert.equal(box?.value, 'canary-value-1');
    assert.deepEqual(acts, [
      { name: 'reveal', vault: 'agents', itemId: 'db', title: 'DB', field: 'password', version: 1 },
    ]);
    box.dispose();
    await shown;
    assert.equal(box.value, '');
    assert.equal(vault.uses()[0]?.principal, 'person');
  });

  it('[VAULTUI-02] shows nothing where presence was turned away', async () => {
    whileAsked = async () => false;
    await items.reveal(vault, item(), 'password');
    await items.copy(vault, item(), 'password');
    assert.equal(stub.boxes.length, 0);
    assert.equal(stub.clipboard, '');
    assert.equal(vault.uses().length, 0);
  });

  it('[VAULTUI-02] shows the version that was confirmed, whatever was saved meanwhile', async () => {
    whileAsked = async () => {
      await vault.save(sampleDraft('db', { password: 'canary-value-2' }, { baseVersion: 1 }));
      return true;
    };
    const shown = items.reveal(vault, item(), 'password');
    await until(() => stub.boxes.length === 1);
    assert.equal(stub.boxes[0]?.value, 'canary-value-1');
    stub.boxes[0].dispose();
    await shown;
  });

  it('[VAULTUI-02] shows nothing of an item that was removed meanwhile', async () => {
    whileAsked = async () => {
      await vault.remove('db');
      return true;
    };
    await items.reveal(vault, item(), 'password');
    assert.equal(stub.boxes.length, 0);
    assert.match(notices[0]?.text ?? '', /changed meanwhile/);
  });

  it('[VAULTUI-02] hides itself when its time is over', async () => {
    using value = Secret.fromText('canary-value-3');
    const shown = showValue('title', value, async () => undefined, { seconds: 1 });
    assert.equal(stub.boxes[0]?.isShown, true);
    await shown;
    await until(() => stub.boxes[0]?.isShown === false);
    assert.equal(stub.boxes[0].value, '');
  });

  it('[VAULTUI-02] shows several lines as they are, and what could not be seen escaped', async () => {
    using value = Secret.fromText('-----BEGIN\n$(alert) \u202Ex\n');
    const shown = showValue('title', value, async () => undefined);
    assert.deepEqual(
      stub.picks[0]?.items.map(({ label }) => label),
      ['-----BEGIN', '\\u{24}(alert) \\u{202E}x'],
    );
    stub.picks[0].dispose();
    await shown;
    assert.equal(stub.picks[0].items.length, 0);
  });

  it('clears the clipboard where it still holds the value, and nothing of anybody else’s', async () => {
    await items.copy(vault, item(), 'password');
    assert.equal(stub.clipboard, 'canary-value-1');
    await clipboard.clear();
    assert.equal(stub.clipboard, '');
    await items.copy(vault, item(), 'password');
    stub.clipboard = 'mine';
    await clipboard.clear();
    assert.equal(stub.clipboard, 'mine');
  });

  it('makes a key pair in the vault, and none where the choice is closed', async () => {
    const add = async (origin: string | undefined) => {
      stub.chosen = ['key pair', origin];
      const added = items.add(vault);
      const boxes = stub.boxes.length;
      await until(() => stub.boxes.length > boxes);
      stub.boxes.at(-1)?.enter('Deploy');
      await added;
    };
    await add(undefined);
    assert.equal(vault.get('deploy'), undefined);
    await add('Make a fresh');
    assert.deepEqual(
      vault.get('deploy')?.fields.map(({ name }) => name),
      ['private-key', 'public-key'],
    );
    assert.equal((await vault.sign('deploy', Buffer.from('x'))).length, 64);
  });

  it('removes an item and brings it back with its versions', async () => {
    await vault.save(sampleDraft('db', { password: 'canary-value-2' }, { baseVersion: 1, tags: ['prod'] }));
    await items.remove(vault, item());
    assert.ok(vault.get('db'), 'the question was not answered');
    stub.answers = ['Remove', 'Undo'];
    await items.remove(vault, item());
    assert.deepEqual(
      vault.history('db').map(({ tags }) => tags),
      [['prod'], []],
    );
    using old = await vault.open('db', 'password', vault.history('db')[1]?.version);
    assert.equal(
      old.use((bytes) => bytes.toString()),
      'canary-value-1',
    );
    stub.answers = ['Remove'];
    await items.remove(vault, item());
    assert.equal(vault.get('db'), undefined);
  });

  it('imports a file whole, says what is left out, and shreds it when asked', async () => {
    writeFileSync(file('.env'), 'API_KEY="canary-value-4"\nEMPTY=\n');
    stub.files = [file('.env')];
    stub.chosen = ['A .env file'];
    stub.answers = ['Import', 'Shred'];
    await importItems(vault, notifier);
    assert.deepEqual(
      vault.list().map(({ id }) => id),
      ['api-key', 'db'],
    );
    assert.ok(!existsSync(file('.env')));
    assert.match(stub.shown.map(({ text }) => text).join('\n'), /Take one item from \.env/);
    assert.doesNotMatch(JSON.stringify([stub.shown, notices]), /canary/);
  });

  it('imports nothing where the person says no, or the file is another', async () => {
    writeFileSync(file('x.json'), '{"encrypted":true,"items":[]}');
    stub.files = [file('x.json')];
    stub.chosen = ['Bitwarden'];
    await importItems(vault, notifier);
    assert.match(notices[0]?.text ?? '', /is encrypted/);
    writeFileSync(file('.env'), 'A=canary-value-5\n');
    stub.files = [file('.env')];
    stub.chosen = ['A .env file'];
    await importItems(vault, notifier);
    assert.equal(vault.list().length, 1);
    assert.ok(existsSync(file('.env')));
  });

  it('exports after presence for exactly these items and this file, private', async () => {
    const path = file('out.json');
    stub.files = [path];
    stub.chosen = [['DB']];
    whileAsked = async () => false;
    await exportItems(vault, { person, notifier });
    assert.ok(!existsSync(path));
    stub.files = [path];
    stub.chosen = [['DB']];
    whileAsked = async () => {
      await vault.save(sampleDraft('db', { password: 'canary-value-2' }, { baseVersion: 1 }));
      return true;
    };
    await exportItems(vault, { person, notifier });
    assert.ok(!existsSync(path), 'another version than the one that was confirmed');
    stub.files = [path];
    stub.chosen = [['DB']];
    whileAsked = async () => true;
    await exportItems(vault, { person, notifier });
    assert.deepEqual(acts.at(-1), { name: 'export', vault: 'agents', items: ['db 2'], path });
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.match(readFileSync(path, 'utf8'), /canary-value-2/);
  });

  it('shreds ordinary files alone', async () => {
    writeFileSync(file('a'), 'canary');
    symlinkSync(file('a'), file('link'));
    assert.equal(await shredFile(file('link')), false);
    linkSync(file('a'), file('b'));
    assert.equal(await shredFile(file('a')), false);
    assert.equal(await shredFile(folder()), false);
    assert.equal(await shredFile(file('missing')), false);
    assert.equal(readFileSync(file('b'), 'utf8'), 'canary');
    writeFileSync(file('c'), 'canary');
    assert.equal(await shredFile(file('c')), true);
    assert.ok(!existsSync(file('c')));
  });

  it('names variables as a person would', () => {
    assert.equal(variableOf({ item: 'build-api', field: 'value' }), 'BUILD_API');
    assert.equal(variableOf({ item: 'orders', field: 'password' }), 'ORDERS_PASSWORD');
  });
});

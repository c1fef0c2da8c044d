import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Notice } from '../../extension/src/messages.ts';
import type { Presence } from '../../extension/src/presence/presence.ts';
import type { PresenceAct } from '../../extension/src/presence/presenceAct.ts';
import { ProofDesk, type Proof } from '../../extension/src/presence/proofDesk.ts';
import type { Vault } from '../../extension/src/vault/core/vaultContract.ts';
import { VaultError } from '../../extension/src/vault/core/vaultState.ts';
import { VaultClipboard } from '../../extension/src/vault/ui/clipboard.ts';
import { exportItems } from '../../extension/src/vault/ui/exportItems.ts';
import { usesReport } from '../../extension/src/vault/ui/grantList.ts';
import { formOf } from '../../extension/src/vault/ui/itemForm.ts';
import { runCommand } from '../../extension/src/vault/ui/runCommand.ts';
import { sentenceOf } from '../../extension/src/vault/ui/reviewRequests.ts';
import { VaultItems } from '../../extension/src/vault/ui/vaultItems.ts';
import { vaultNodes } from '../../extension/src/vault/ui/vaultNodes.ts';
import { vaultProblem } from '../../extension/src/vault/ui/vaultWords.ts';
import { ReleaseDesk } from '../../extension/src/vault/releaseDesk.ts';
import { ReleasedValues } from '../../extension/src/vault/releasedValues.ts';
import { samplePersonalVault, sampleDraft, sampleWish } from '../support/sampleVault.ts';
import { until } from '../support/until.ts';
import { resetStub, stub } from '../support/vscodeStub.ts';

/** Rule 8: no vault value is shown, except to a person who proved presence just now, for that one value; then it is hidden. */
describe('floor 8: no vault value is shown', () => {
  const canary = 'canary-8c1f4e/value';
  const spellings = [canary, Buffer.from(canary).toString('base64'), encodeURIComponent(canary)];
  let folder = '';
  let vault: Vault;
  let items: VaultItems;
  let clipboard: VaultClipboard;
  let notices: Notice[];
  /** What the person proves to be there for; null is nothing. */
  let proven: ((act: PresenceAct) => PresenceAct) | null;
  const desk = new ProofDesk(() => 0);
  const person = {
    prove: async (act: PresenceAct): Promise<Proof | undefined> =>
      proven ? desk.issue(proven(act), 0) : undefined,
    spend: (proof: Proof, act: PresenceAct) => desk.spend(proof, act),
  } as unknown as Presence;
  const notifier = {
    show: (notice: Notice) => void notices.push(notice),
    showError: (error: unknown) => assert.fail(String(error)),
  };

  beforeEach(async () => {
    resetStub();
    folder = mkdtempSync(join(tmpdir(), 'sallyport-floor-'));
    vault = await samplePersonalVault(join(folder, 'personal'));
    await vault.save(sampleDraft('api', { value: canary }, { hosts: ['api.example.org'] }));
    await vault.ask(sampleWish);
    notices = [];
    proven = null;
    clipboard = new VaultClipboard();
    items = new VaultItems({ person, notifier, clipboard });
  });
  afterEach(() => {
    clipboard.dispose();
    vault.lock();
    rmSync(folder, { recursive: true, force: true });
  });

  const item = () => vault.get('api') ?? assert.fail('it is gone');
  /** Everything that a person, a log or another extension could have seen. */
  const seen = (): string =>
    JSON.stringify([
      notices,
      stub.shown,
      stub.lists,
      stub.clipboard,
      stub.boxes.map((box) => [box.title, box.prompt, box.value, box.validationMessage]),
      stub.picks.map((pick) => [pick.title, pick.placeholder, pick.items]),
    ]);
  const assertHidden = (text: string, what: string) =>
    assert.ok(!spellings.some((each) => text.includes(each)), what);

  const acts: readonly [string, () => Promise<unknown>][] = [
    ['revealing', () => items.reveal(vault, item(), 'value')],
    ['copying', () => items.copy(vault, item(), 'value')],
    ['revealing a version', () => items.reveal(vault, item(), 'value', 1)],
    [
      'exporting',
      () => {
        stub.chosen = [['API']];
        stub.files = [join(folder, 'out.json')];
        return exportItems(vault, { person, notifier });
      },
    ],
    [
      'a command with it',
      () => {
        stub.chosen = [['API']];
        return Promise.all([
          runCommand([vault], { person, notifier, released: new ReleasedValues() }),
          answerBoxes(['API_VALUE', 'true']),
        ]);
      },
    ],
  ];
  for (const [what, act] of acts) {
    it(`[FLOOR-08] ${what} shows nothing without presence`, async () => {
      await act();
      assertHidden(seen(), what);
      assert.equal(vault.uses().length, 0);
    });
    it(`[FLOOR-08] ${what} shows nothing with presence for another act`, async () => {
      proven = (asked) =>
        asked.name === 'reveal' ? { ...asked, field: 'other' } : { name: 'removePassword' };
      await act();
      assertHidden(seen(), what);
      assert.equal(vault.uses().length, 0);
    });
  }

  it('[FLOOR-08] the control: with presence for it the value is shown, and hidden again', async () => {
    proven = (asked) => asked;
    const shown = items.reveal(vault, item(), 'value');
    await until(() => stub.boxes.length > 0);
    assert.ok(seen().includes(canary));
    stub.boxes[0]?.dispose();
    await shown;
    assertHidden(seen(), 'after it was hidden');
  });

  it('[FLOOR-08] lists, forms, requests, logs, names and errors hold none', async () => {
    const released = new ReleasedValues();
    const release = new ReleaseDesk({
      openVaults: async () => [vault],
      hasLocked: () => false,
      released,
      now: Date.now,
    });
    const wish = { item: 'api', field: 'value', use: sampleWish.use };
    const refused = await release
      .release({
        principal: 'card:fetch',
        scope: sampleWish.scope,
        jobId: 'j',
        recipient: Buffer.alloc(32, 9).toString('base64'),
        wishes: [{ ...wish, use: { ...sampleWish.use, hosts: [...sampleWish.use.hosts] } }],
      })
      .catch(String);
    await vault.note([{ grant: '', principal: 'person', item: 'api', field: 'value', host: '' }]);
    const [grant] = vault.grants();
    assert.ok(grant);
    const texts = [
      JSON.stringify(vaultNodes({ agents: { state: 'open', vault }, personal: { state: 'absent' } }, 0)),
      JSON.stringify(formOf(item())),
      JSON.stringify(await release.names()),
      JSON.stringify([vault, vault.list(), vault.history('api'), vault.grants(), vault.uses()]),
      sentenceOf(vault, grant),
      usesReport([vault]).text,
      vaultProblem(new VaultError('tampered', { item: 'api' })),
      JSON.stringify(refused),
    ];
    for (const text of texts) assertHidden(text, text);
  });

  /** Types into the boxes that open, one after another. */
  async function answerBoxes(answers: readonly string[]): Promise<void> {
    for (const [at, answer] of answers.entries()) {
      await until(() => stub.boxes.length > at);
      stub.boxes[at]?.enter(answer);
    }
  }
});

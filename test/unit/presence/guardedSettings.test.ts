import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Notice } from '../../../extension/src/messages.ts';
import { FactorStore } from '../../../extension/src/presence/factorStore.ts';
import { SettingConfirmations, watchSettings } from '../../../extension/src/presence/guardedSettings.ts';
import type { Presence } from '../../../extension/src/presence/presence.ts';
import type { PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import { ProofDesk } from '../../../extension/src/presence/proofDesk.ts';
import { createSettings } from '../../../extension/src/settings.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

describe('The watch over settings that open something', () => {
  const folder = useTemporaryFolder();
  let store: FactorStore;
  let confirmations: SettingConfirmations;
  let acts: PresenceAct[];
  let notices: Notice[];
  let isHere = true;
  let stop: (() => void) | undefined;

  /** A window with what is on the disk and in the settings file. */
  function open() {
    confirmations = new SettingConfirmations(store, (error) => assert.fail(String(error)));
    const settings = createSettings((name) => confirmations.of(name));
    const desk = new ProofDesk(() => 0);
    const person: Pick<Presence, 'prove' | 'spend'> = {
      prove: async (act) => {
        acts.push(act);
        return isHere ? desk.issue(act, 0) : undefined;
      },
      spend: (proof, act) => desk.spend(proof, act),
    };
    const watch = watchSettings({
      confirmations,
      presence: person as Presence,
      settings,
      notifier: { show: (notice) => notices.push(notice), showError: (error) => assert.fail(String(error)) },
      log: {
        info: () => undefined,
        warn: () => undefined,
        error: (text) => assert.fail(text),
        show: () => undefined,
      },
    });
    stop = () => {
      watch.dispose();
      confirmations.dispose();
    };
    return settings;
  }

  beforeEach(() => {
    resetStub();
    store = new FactorStore(join(folder(), 'factors.json'));
    acts = [];
    notices = [];
    isHere = true;
  });
  afterEach(() => stop?.());

  it('[PRES-06] counts for nothing before a person confirmed it, and from then on', async () => {
    stub.settings['sallyport.shellInternet'] = true;
    stub.answer = 'Confirm';
    const settings = open();
    assert.equal(settings.written('shellInternet'), true, 'the stub gives the setting');
    assert.equal(settings.shellInternet, false);
    await until(() => settings.shellInternet);
    assert.deepEqual(acts, [
      { name: 'changeSetting', setting: 'sallyport.shellInternet', from: 'false', to: 'true' },
    ]);
    assert.deepEqual((await store.read()).settings, { shellInternet: true });
    stop?.();
    const later = open();
    await until(() => later.shellInternet);
    assert.equal(acts.length, 1, 'it is not asked again');
  });

  for (const [how, answer] of [
    ['the notice is closed', undefined],
    ['presence fails', 'Confirm'],
  ] as const) {
    it(`[PRES-06] is written back where ${how}`, async () => {
      stub.settings['sallyport.shellInternet'] = true;
      stub.answer = answer;
      isHere = false;
      const settings = open();
      await until(() => notices.length > 0);
      assert.match(notices[0]?.text ?? '', /stays as it was/);
      assert.equal(settings.shellInternet, false);
      assert.deepEqual(
        stub.written.map(({ name, value }) => [name, value]),
        [['sallyport.shellInternet', undefined]],
      );
    });
  }
});

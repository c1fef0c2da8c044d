import assert from 'node:assert/strict';
import { join } from 'node:path';
import { Emitter } from '../../../extension/src/emitter.ts';
import type { Services } from '../../../extension/src/services.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { createRequests } from '../../../extension/src/vault/ui/registerRequests.ts';
import { sampleAgentsVault, sampleDraft, sampleWish } from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { until } from '../../support/until.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

describe('requests for vault values that come', () => {
  const folder = useTemporaryFolder();
  let vault: Vault;
  let changed: Emitter<undefined>;
  let review: (...args: unknown[]) => unknown;
  let requests: { dispose(): unknown };

  beforeEach(async () => {
    resetStub();
    vault = await sampleAgentsVault(join(folder(), 'agents'));
    await vault.save(sampleDraft('api', { value: 'canary-value-1' }));
    const fail = (error: unknown) => assert.fail(String(error));
    changed = new Emitter<undefined>(fail);
    const status = { state: 'open', vault };
    requests = createRequests({
      commands: {
        register: (_id: string, run: typeof review) => {
          review = run;
          return { dispose: () => undefined };
        },
      },
      log: { error: fail },
      notifier: { show: () => undefined, showError: fail },
      projects: { projects: async () => [] },
      reviewer: { onDidAccept: () => ({ dispose: () => undefined }) },
      vault: {
        vaults: {
          open: async () => [vault],
          agents: { status },
          personal: { status: { state: 'absent' } },
          onDidChange: (listener: () => void) => changed.on(listener),
        },
      },
    } as unknown as Services);
  });
  afterEach(() => {
    requests.dispose();
    vault.lock();
  });

  const ofPlace = {
    ...sampleWish,
    principal: 'place:ssh:lab',
    scope: '',
    use: { kind: 'sshSignature' },
  } as const;
  const warnings = () => stub.shown.filter(({ severity }) => severity === 'warning');

  it('[VAULTUSE-16] are announced, but for that of a place, which is put to the person itself', async () => {
    const { id } = await vault.ask(ofPlace);
    changed.fire(undefined);
    assert.deepEqual(warnings(), []);
    await vault.ask(sampleWish);
    changed.fire(undefined);
    await until(() => warnings().length > 0);
    assert.match(warnings()[0]?.text ?? '', /^Somebody asks for a value/);
    stub.chosen = ['Decline'];
    await review(id);
    const states = new Map(vault.grants().map(({ principal, state }) => [principal, state]));
    assert.deepEqual([states.get('place:ssh:lab'), states.get('card:fetch')], ['declined', 'pending']);
  });

  it('[VAULTUI-05] are all shown where the command is given no request', async () => {
    await vault.ask(ofPlace);
    await vault.ask(sampleWish);
    stub.chosen = ['Decline', 'Decline'];
    await review({ from: 'a menu' });
    assert.ok(vault.grants().every(({ state }) => state === 'declined'));
  });
});

import assert from 'node:assert/strict';
import { join } from 'node:path';
import type { Notice } from '../../../extension/src/messages.ts';
import { actDigest, type PresenceAct } from '../../../extension/src/presence/presenceAct.ts';
import type { Presence } from '../../../extension/src/presence/presence.ts';
import { ProofDesk } from '../../../extension/src/presence/proofDesk.ts';
import type { Vault } from '../../../extension/src/vault/core/vaultContract.ts';
import { grantAccepted } from '../../../extension/src/vault/ui/cardGrants.ts';
import { listGrants, usesReport } from '../../../extension/src/vault/ui/grantList.ts';
import { RequestReviewer } from '../../../extension/src/vault/ui/reviewRequests.ts';
import { permissionKey } from '../../../protocol/src/permissions.ts';
import { vaultUseText } from '../../../protocol/src/vaultUse.ts';
import {
  sampleAgentsVault,
  sampleDraft,
  samplePersonalVault,
  sampleWish,
} from '../../support/sampleVault.ts';
import { useTemporaryFolder } from '../../support/temporaryFolder.ts';
import { resetStub, stub } from '../../support/vscodeStub.ts';

describe('A request for a vault value', () => {
  const folder = useTemporaryFolder();
  let agents: Vault;
  let personal: Vault;
  let notices: Notice[];
  let acts: PresenceAct[];
  let isHere: boolean;
  let reviewer: RequestReviewer;
  let texts: string[];
  const now = Date.now();

  beforeEach(async () => {
    resetStub();
    agents = await sampleAgentsVault(join(folder(), 'agents'));
    personal = await samplePersonalVault(join(folder(), 'personal'));
    await agents.save(sampleDraft('api', { value: 'canary-value-1' }));
    await personal.save(sampleDraft('db', { password: 'canary-value-2' }));
    notices = [];
    texts = [];
    acts = [];
    isHere = true;
    const desk = new ProofDesk(() => 0);
    const person: Pick<Presence, 'prove' | 'spend'> = {
      prove: async (act) => {
        acts.push(act);
        return isHere ? desk.issue(act, 0) : undefined;
      },
      spend: (proof, act) => desk.spend(proof, act),
    };
    reviewer = new RequestReviewer({
      waiting: async () =>
        [agents, personal]
          .flatMap((vault) => vault.grants().map((grant) => ({ vault, grant })))
          .filter(({ grant }) => grant.state === 'pending'),
      projectOf: async () => 'tiny',
      person: person as Presence,
      notifier: {
        show: (notice) => notices.push(notice),
        showError: (error: unknown) => assert.fail(String(error)),
      },
      reports: { show: async (_title, text) => void texts.push(text) },
      now: () => now,
    });
  });
  afterEach(() => {
    agents.lock();
    personal.lock();
  });

  const answers: [string, string, object][] = [
    ['Allow once', 'accepted', { count: 1, until: null }],
    ['Allow for an hour', 'accepted', { count: null, until: now + 3_600_000 }],
    ['Allow until you revoke it', 'accepted', { count: null, until: null }],
    ['Decline', 'declined', { count: null, until: null }],
    ['Decide later', 'pending', { count: null, until: null }],
  ];
  for (const [answer, state, limits] of answers) {
    it(`[VAULTUI-05] answered with “${answer}” is ${state}, in Sallyport’s words`, async () => {
      const use = { ...sampleWish.use, hosts: ['a.example'] };
      await agents.ask({ ...sampleWish, use, reason: 'I am\u202E harmless, press Allow' });
      // The line about the use is longer than the list shows.
      stub.chosen = ['Open whole text', answer];
      await reviewer.review();
      const [grant] = agents.grants();
      assert.equal(grant?.state, state);
      assert.deepEqual(grant.limits, limits);
      const lines = stub.lists[0]?.map(({ label }) => label) ?? [];
      for (const line of [
        'The card fetch',
        '“value” of “API”',
        'in the header authorization of requests to a.example, put in outside the sandbox',
      ])
        assert.ok(lines.includes(line), lines.join('\n'));
      assert.ok(lines.includes('It says: I am\\u{202E} harmless, press Allow'));
      assert.ok(lines.includes('For the project tiny'));
      assert.ok(!lines.some((line) => line.startsWith('Allow')), 'no yes before the whole text was opened');
      assert.match(texts[0] ?? '', /of requests to a\.example, put in outside the sandbox/);
      assert.deepEqual(acts, [], 'an item of the agents’ vault needs no presence');
    });
  }

  it('[VAULTUSE-16] puts the one request that a connection waits for, and no other', async () => {
    await agents.ask(sampleWish);
    const place = {
      ...sampleWish,
      principal: 'place:ssh:lab',
      scope: '',
      use: { kind: 'sshSignature' },
    } as const;
    const { id } = await agents.ask(place);
    stub.chosen = ['Allow once', 'Allow once'];
    await reviewer.review(id);
    const states = agents.grants().map(({ principal, state }) => [principal, state]);
    assert.deepEqual(
      new Map(states as [string, string][]),
      new Map([
        ['card:fetch', 'pending'],
        ['place:ssh:lab', 'accepted'],
      ]),
    );
    const lines = stub.lists[0]?.map(({ label }) => label) ?? [];
    for (const line of ['The place ssh:lab', 'to sign in over SSH', 'For no project'])
      assert.ok(lines.includes(line), lines.join('\n'));
    // One that is gone is no reason to show others, or to say anything.
    await reviewer.review(id);
    assert.equal(stub.lists.length, 1);
  });

  it('[VAULTUI-05] stays as it is where the list is closed', async () => {
    await agents.ask(sampleWish);
    stub.chosen = [undefined];
    await reviewer.review();
    assert.equal(agents.grants()[0]?.state, 'pending');
  });

  it('[VAULTUI-06] for an item of the personal vault is allowed with presence for exactly it, and not without', async () => {
    const wish = { ...sampleWish, item: 'db', field: 'password' };
    await personal.ask(wish);
    isHere = false;
    stub.chosen = ['Open whole text', 'Allow once'];
    await reviewer.review();
    assert.equal(personal.grants()[0]?.state, 'pending');
    isHere = true;
    stub.chosen = ['Open whole text', 'Allow once'];
    await reviewer.review();
    assert.equal(personal.grants()[0]?.state, 'accepted');
    const [first, second] = acts;
    assert.ok(first?.name === 'approveGrant' && second);
    assert.match(first.sentence, /^The card fetch uses “password” of “DB”/);
    assert.deepEqual(actDigest(first), actDigest(second));
  });

  it('[VAULTUI-06] is confirmed with its limits: another length of time is another act', async () => {
    const grant = await personal.ask({ ...sampleWish, item: 'db', field: 'password' });
    isHere = false;
    for (const limits of [
      { count: 1, until: null },
      { count: 2, until: null },
      { count: null, until: null },
    ])
      await reviewer.allow({ vault: personal, grant }, limits);
    assert.equal(new Set(acts.map((act) => actDigest(act).toString('hex'))).size, 3);
  });

  const accepted = (item: string, field: string) => [
    {
      card: 'fetch',
      keys: [
        'network:api.example.org',
        permissionKey({ name: 'vaultItem', item, field, use: vaultUseText(sampleWish.use) }),
      ],
    },
  ];
  const parts = () => ({
    vaults: async () => [agents, personal],
    reviewer,
    notifier: {
      show: (notice: Notice) => void notices.push(notice),
      showError: (error: unknown) => assert.fail(String(error)),
    },
    now: () => Date.now(),
  });

  it('[VAULTUI-05] is answered by the review of the card’s permissions, once', async () => {
    await grantAccepted(accepted('api', 'value'), sampleWish.scope, parts());
    await grantAccepted(accepted('api', 'value'), sampleWish.scope, parts());
    assert.deepEqual(
      agents.grants().map(({ state, principal, scope, limits }) => ({ state, principal, scope, limits })),
      [
        {
          state: 'accepted',
          principal: 'card:fetch',
          scope: sampleWish.scope,
          limits: { count: null, until: null },
        },
      ],
    );
  });

  it('[VAULTUI-06] needs presence also there, where the item is in the personal vault', async () => {
    isHere = false;
    await grantAccepted(accepted('db', 'password'), sampleWish.scope, parts());
    assert.equal(personal.grants()[0]?.state, 'pending');
    assert.equal(acts.length, 1);
  });

  it('[VAULTUI-05] says which item is in no open vault', async () => {
    await grantAccepted(accepted('nothing', 'value'), sampleWish.scope, parts());
    assert.match(notices[0]?.text ?? '', /no open vault has the item “nothing”/);
  });

  it('[VAULTUI-07] is listed once granted, and revoked after a question', async () => {
    await grantAccepted(accepted('api', 'value'), sampleWish.scope, parts());
    stub.chosen = ['The card fetch uses'];
    await listGrants([agents, personal], parts().notifier, Date.now());
    assert.equal(agents.grants()[0]?.state, 'accepted', 'the question was not answered');
    stub.chosen = ['The card fetch uses'];
    stub.answer = 'Revoke';
    await listGrants([agents, personal], parts().notifier, Date.now());
    assert.equal(agents.grants()[0]?.state, 'revoked');
  });

  it('[VAULTUI-07] leaves a line for each use, and no value', async () => {
    await grantAccepted(accepted('api', 'value'), sampleWish.scope, parts());
    await agents.consume(agents.grants()[0]?.id ?? '', { host: 'api.example.org' });
    await personal.note([{ grant: '', principal: 'person', item: 'db', field: 'password', host: '' }]);
    const { text } = usesReport([agents, personal]);
    assert.match(text, /The card fetch +api +value +api\.example\.org/);
    assert.match(text, /you +db +password +–/);
    assert.doesNotMatch(text, /canary/);
  });
});

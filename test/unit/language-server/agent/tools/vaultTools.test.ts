import assert from 'node:assert/strict';
import { join } from 'node:path';
import { createVaultTools } from '../../../../../language-server/src/agent/tools/vaultTools.ts';
import { openProjects } from '../../../../../language-server/src/project/nodeProjects.ts';
import type { ParamsOf } from '../../../../../protocol/src/contract.ts';
import { UserError } from '../../../../../protocol/src/errors.ts';
import type { vaultPersonRequests } from '../../../../../protocol/src/vault.ts';
import { GateHarness } from '../../../../support/gateHarness.ts';
import { FakePersonSide } from '../../../../support/personSide.ts';
import { writeProject } from '../../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../../support/temporaryFolder.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';

type Ask = ParamsOf<(typeof vaultPersonRequests)['vault/ask']>;

describe('the vault tools of an agent', () => {
  const folder = useTemporaryFolder();
  let harness: GateHarness;
  let person: FakePersonSide;
  let asked: Ask[];

  beforeEach(() => {
    harness = new GateHarness();
    person = new FakePersonSide();
    asked = [];
    writeProject(join(folder(), 'p'), {
      load: {
        permissions: {
          network: ['api.example.org'],
          vault: [
            {
              item: 'api',
              field: 'token',
              use: { type: 'header', hosts: ['api.example.org'], name: 'x-key' },
            },
            { item: 'api', field: 'token', env: 'TOKEN' },
          ],
        },
      },
      plain: {},
    });
    person.others.set('vault/ask', (params: Ask) => {
      asked.push(params);
      return { grant: 'g', state: asked.length === 1 ? 'pending' : 'accepted' };
    });
    person.others.set('vault/names', () => [
      { item: 'api', title: 'My "API"', kind: 'token', fields: ['token'], hosts: ['api.example.org'] },
    ]);
  });
  afterEach(() => harness.close());

  const call = async (name: string, args: object, answers: ('allow-once' | 'decline')[] = []) => {
    const root = join(folder(), 'p');
    const tool = createVaultTools({ projects: openProjects({ roots: [root] }), person }).find(
      (each) => each.name === name,
    );
    assert.ok(tool);
    return callTool(harness, tool, args, callContext(root), answers);
  };
  const wanted = { card: 'load', item: 'api', field: 'token', reason: 'It loads the data.' };

  it('[VAULTUSE-14] asks for what the card’s own manifest names, as the card, and goes on', async () => {
    const result = await call('vault_ask', wanted);
    assert.equal(result.state, 'done');
    assert.match(
      result.text,
      /TOKEN.*: it waits for the person’s answer[^]*x-key.*: the person has granted it/,
    );
    assert.deepEqual(
      asked.map(({ principal, wish, reason }) => [principal, wish.item, wish.field, wish.use.kind, reason]),
      [
        ['card:load', 'api', 'token', 'env', 'It loads the data.'],
        ['card:load', 'api', 'token', 'header', 'It loads the data.'],
      ],
    );
    assert.ok(asked.every(({ scope }) => scope === callContext('').scope));
  });

  it('[VAULTUSE-14] is one question: the gate puts none of its own, and the vault’s answer is the only one', async () => {
    await call('vault_ask', wanted);
    assert.equal(asked.length, 2);
    assert.deepEqual(harness.waitingCounts, []);
  });

  it('[VAULTUSE-14] asks nothing in a workspace that is not trusted', async () => {
    harness.trusted = false;
    assert.equal((await call('vault_ask', wanted)).state, 'refused');
    assert.deepEqual(asked, []);
    // The control: trusted, the same call reaches the vault.
    harness.trusted = true;
    await call('vault_ask', wanted);
    assert.equal(asked.length, 2);
  });

  const refused: readonly [string, object, RegExp][] = [
    ['a card that asks for no value', { ...wanted, card: 'plain' }, /does not ask for token of api/],
    ['another field', { ...wanted, field: 'password' }, /does not ask for password/],
    ['a card that is none', { ...wanted, card: 'gone' }, /no sound card/],
    ['a use of its own', { ...wanted, use: { kind: 'env', name: 'PATH' } }, /do not fit/],
    ['another principal', { ...wanted, principal: 'person' }, /do not fit/],
  ];
  for (const [what, args, words] of refused) {
    it(`[VAULTUSE-14] asks nothing for ${what}`, async () => {
      const result = await call('vault_ask', args);
      assert.equal(result.state, 'failed');
      assert.match(result.text, words);
      assert.deepEqual(asked, []);
    });
  }

  it('[VAULTUSE-14] tells names as data', async () => {
    const { text } = await call('vault_names', {}, ['allow-once']);
    assert.equal(text, 'api (token, "My \\"API\\""): fields token; for api.example.org');
  });

  it('tells what the vault says where it can’t be asked', async () => {
    person.others.set('vault/ask', () => {
      throw new UserError('permission-needed', 'there is no field token of a vault item api');
    });
    assert.match((await call('vault_ask', wanted)).text, /no field token/);
  });
});

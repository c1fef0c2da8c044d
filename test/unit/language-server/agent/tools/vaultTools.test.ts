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
import { until } from '../../../../support/until.ts';
import { callContext, callTool } from '../../../../support/toolCalls.ts';

type Ask = ParamsOf<(typeof vaultPersonRequests)['vault/ask']>;

describe('the vault tools of an agent', () => {
  const folder = useTemporaryFolder();
  let harness: GateHarness;
  let person: FakePersonSide;
  let asked: Ask[];
  let covered: boolean[];

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
    covered = [false, false];
    person.others.set('vault/covered', () => ({ covered }));
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
    const result = await call('vault_ask', wanted, ['allow-once']);
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

  it('[VAULTUSE-14] is an act that opens a permission: a person is asked whatever was granted', async () => {
    const scope = callContext('').scope;
    for (const kind of ['read', 'write', 'run', 'shell'] as const)
      harness.gate.give({ scope, kind, conversation: null, folder: '' });
    const result = await call('vault_ask', wanted, ['decline']);
    assert.notEqual(result.state, 'done');
    assert.deepEqual(asked, []);
    // The control: with a yes the question reaches the vault.
    await call('vault_ask', wanted, ['allow-once']);
    assert.equal(asked.length, 2);
  });

  it('[VAULTUSE-14] shows each use that no grant covers, and asks nobody where all are covered', async () => {
    covered = [true, false];
    const running = call('vault_ask', wanted);
    await until(() => harness.gate.waiting().length > 0);
    const [approval] = harness.gate.waiting();
    assert.ok(approval);
    assert.equal(approval.rule.id, 'widening');
    assert.deepEqual(
      approval.permissions.map(({ key }) => key),
      ['vaultItem:api:token:header:x-key:@api.example.org'],
    );
    harness.answer('decline');
    await running;
    assert.deepEqual(asked, []);
    covered = [true, true];
    assert.equal((await call('vault_ask', wanted)).state, 'done');
    assert.equal(asked.length, 2);
  });

  it('[VAULTUSE-14] asks for all where the vault can’t say what is covered', async () => {
    person.others.set('vault/covered', () => {
      throw new UserError('closed', 'gone');
    });
    const running = call('vault_ask', wanted);
    await until(() => harness.gate.waiting().length > 0);
    assert.equal(harness.gate.waiting()[0]?.permissions.length, 2);
    harness.answer('decline');
    await running;
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
    assert.match((await call('vault_ask', wanted, ['allow-once'])).text, /no field token/);
  });
});

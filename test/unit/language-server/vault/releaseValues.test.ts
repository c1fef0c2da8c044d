import assert from 'node:assert/strict';
import { join } from 'node:path';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { ParamsOf } from '../../../../protocol/src/contract.ts';
import type { ReleasedValue, vaultPersonRequests, VaultWish } from '../../../../protocol/src/vault.ts';
import { FakePersonSide } from '../../../support/personSide.ts';
import { writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { TestEngine } from '../../../support/testEngine.ts';

type Release = ParamsOf<(typeof vaultPersonRequests)['vault/release']>;

const sealed = { ephemeralKey: 'a', iv: 'b', ciphertext: 'c', tag: 'd' };
const wish: VaultWish = { item: 'db', field: 'password', use: { kind: 'env', name: 'DB' } };

describe('the values of a card', () => {
  const folder = useTemporaryFolder();
  let engine: TestEngine;
  let person: FakePersonSide;
  let asked: Release[];
  let answer: (params: Release) => { values: ReleasedValue[] };

  beforeEach(async () => {
    const root = join(folder(), 'project');
    writeProject(root, {
      plain: {},
      wishing: { permissions: { vault: [{ item: 'db', field: 'password', env: 'DB' }] } },
    });
    asked = [];
    answer = ({ wishes }) => ({ values: wishes.map((each) => ({ grant: 'g', wish: each, sealed })) });
    person = new FakePersonSide();
    person.others.set('vault/release', (params: Release) => {
      asked.push(params);
      return answer(params);
    });
    engine = new TestEngine(join(folder(), 'home'), root, { person });
    engine.runner.info = { ...engine.runner.info, vaultKey: 'runner-key' };
    await engine.acceptAll();
  });
  afterEach(() => engine.dispose());

  const run = async () => (await engine.run({ cards: ['wishing'], ignoreCache: true })).cards[0]?.status;

  it('are asked for by the card itself, for its project, its job and the runner’s key', async () => {
    assert.equal((await run())?.state, 'done');
    const [job] = engine.runner.jobs;
    const scope = (await engine.handlers['project/get']({ root: engine.root }, new AbortController().signal))
      .scope;
    assert.deepEqual(asked, [
      { principal: 'card:wishing', scope, jobId: job?.jobId, recipient: 'runner-key', wishes: [wish] },
    ]);
    assert.deepEqual(job?.vault, [{ grant: 'g', wish, sealed }]);
  });

  it('are not asked for by a card that wants none', async () => {
    await engine.run({ cards: ['plain'] });
    assert.deepEqual(asked, []);
  });

  const denied = new UserError('permission-needed', 'there is no grant for password of db', {
    remedy: 'Give one.',
  });
  const refusals: readonly [string, () => void, string, string][] = [
    [
      'there is no grant',
      () =>
        (answer = () => {
          throw denied;
        }),
      'blocked',
      'there is no grant for password of db',
    ],
    [
      'the vault breaks',
      () =>
        (answer = () => {
          throw new Error('out of order');
        }),
      'failed',
      'out of order',
    ],
    ['fewer come back', () => (answer = () => ({ values: [] })), 'failed', 'other values'],
    [
      'another use comes back',
      () =>
        (answer = () => ({
          values: [{ grant: 'g', sealed, wish: { ...wish, use: { kind: 'env', name: 'PATH' } } }],
        })),
      'failed',
      'other values',
    ],
    [
      'the runner takes none',
      () => {
        engine.runner.info = { ...engine.runner.info };
        delete engine.runner.info.vaultKey;
      },
      'blocked',
      'can take no vault values',
    ],
    [
      'nobody is there',
      () =>
        person.others.set('vault/release', () => {
          throw new UserError('closed', 'nobody');
        }),
      'blocked',
      'from VS Code',
    ],
  ];
  for (const [name, arrange, state, words] of refusals) {
    it(`[VAULTUSE-12] start nothing where ${name}`, async () => {
      arrange();
      const status = await run();
      assert.equal(status?.state, state);
      assert.ok(status.reason?.detail.includes(words), status.reason?.detail);
      assert.deepEqual(engine.runner.takeRun(), []);
    });
  }

  it('are not waited for once the run is cancelled', async () => {
    let release: (() => void) | undefined;
    const reached = new Promise<void>((resolve) => {
      person.others.set('vault/release', () => {
        resolve();
        return new Promise((_settle, reject) => {
          release = () => reject(new UserError('cancelled', 'taken back'));
        });
      });
    });
    const runId = await engine.start({ cards: ['wishing'] });
    await reached;
    await engine.handlers['run/cancel']({ runId }, new AbortController().signal);
    release?.();
    assert.equal((await engine.finish(runId)).cards[0]?.status.state, 'cancelled');
    assert.deepEqual(engine.runner.takeRun(), []);
  });
});

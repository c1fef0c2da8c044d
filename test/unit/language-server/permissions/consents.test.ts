import assert from 'node:assert/strict';
import { cpSync, renameSync } from 'node:fs';
import { join } from 'node:path';
import { UserError, type ErrorCode } from '../../../../protocol/src/errors.ts';
import type { CardManifest } from '../../../../protocol/src/manifests.ts';
import { writeCard, writeProject } from '../../../support/projectFolder.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { never, statesOf, TestEngine } from '../../../support/testEngine.ts';

const failsWith = (code: ErrorCode) => (error: unknown) => error instanceof UserError && error.code === code;

describe('permissions', () => {
  const folder = useTemporaryFolder();
  const engines: TestEngine[] = [];
  const open = (
    root = join(folder(), 'project'),
    options: ConstructorParameters<typeof TestEngine>[2] = {},
  ) => {
    const engine = new TestEngine(join(folder(), 'home'), root, options);
    engines.push(engine);
    return engine;
  };
  const asking = (permissions: CardManifest['permissions']) => ({ permissions });
  const review = async (engine: TestEngine) =>
    engine.handlers['permissions/review']({ root: engine.root }, never);
  const accept = async (engine: TestEngine, digest: string, accepted: { card: string; keys: string[] }[]) =>
    engine.handlers['permissions/accept']({ root: engine.root, digest, accepted }, never);
  const blockedIn = async (engine: TestEngine) =>
    (await engine.handlers['project/get']({ root: engine.root }, never)).cards
      .filter(({ blocked }) => blocked)
      .map(({ id }) => id);
  beforeEach(() => {
    writeProject(join(folder(), 'project'), {
      plain: {},
      net: asking({ network: ['example.org'] }),
      wide: asking({ network: true, hostFolders: [{ path: '~/data', name: 'data' }] }),
    });
  });
  afterEach(async () => {
    for (const engine of engines.splice(0)) await engine.dispose();
  });

  it('[PRM-01] lists what is asked beyond the default, each with its sentence, and nothing is accepted at first', async () => {
    const found = await review(open());
    assert.deepEqual(
      found.cards.map(({ id, permissions }) => [id, permissions.map(({ key, isNew }) => `${key} ${isNew}`)]),
      [
        ['net', ['network:example.org true']],
        ['wide', ['hostFolder:read:data:~/data true', 'network:* true']],
      ],
    );
    assert.match(found.cards[1]?.permissions[1]?.sentence ?? '', /whole network/);
  });

  it('[PRM-02] accepts exactly what was named, and blocks the rest', async () => {
    const engine = open();
    const { digest } = await review(engine);
    await accept(engine, digest, [
      { card: 'net', keys: ['network:example.org'] },
      { card: 'wide', keys: ['network:*'] },
    ]);
    assert.deepEqual(await blockedIn(engine), ['wide']);
    assert.deepEqual(statesOf(await engine.run()), { net: 'done', plain: 'done', wide: 'blocked' });
  });

  /** What may happen between the look and the answer. */
  const races: readonly (readonly [string, (engine: TestEngine) => unknown])[] = [
    [
      'a permission is added',
      ({ root }) => writeCard(root, 'net', asking({ network: ['example.org', 'evil.test'] })),
    ],
    ['a permission is exchanged', ({ root }) => writeCard(root, 'net', asking({ network: ['evil.test'] }))],
    [
      'read becomes write',
      ({ root }) =>
        writeCard(
          root,
          'wide',
          asking({ network: true, hostFolders: [{ path: '~/data', name: 'data', write: true }] }),
        ),
    ],
    ['another card begins to ask', ({ root }) => writeCard(root, 'plain', asking({ sandbox: false }))],
    ['a card is renamed', ({ root }) => renameSync(join(root, 'cards/net'), join(root, 'cards/other'))],
    [
      'its title changes',
      ({ root }) => writeCard(root, 'net', { title: 'Harmless', permissions: { network: ['example.org'] } }),
    ],
    ['another window accepts', (engine) => open(engine.root).acceptAll()],
  ];
  for (const [what, change] of races) {
    it(`[PRM-03] refuses the answer and accepts nothing where ${what} meanwhile`, async () => {
      const engine = open();
      const { digest } = await review(engine);
      await change(engine);
      const before = await review(engine);
      await assert.rejects(
        accept(engine, digest, [{ card: 'net', keys: ['network:example.org'] }]),
        failsWith('conflict'),
      );
      assert.deepEqual(await review(engine), before);
    });
  }

  it('[PRM-03] refuses keys that were not shown, with all that came with them', async () => {
    const engine = open();
    const { digest } = await review(engine);
    for (const wrong of [
      { card: 'net', keys: ['network:*'] },
      { card: 'plain', keys: ['unsandboxed'] },
      { card: 'gone', keys: ['network:example.org'] },
      { card: '__proto__', keys: ['network:example.org'] },
    ]) {
      const right = { card: 'net', keys: ['network:example.org'] };
      await assert.rejects(accept(engine, digest, [right, wrong]), failsWith('conflict'));
    }
    await assert.rejects(accept(engine, '0'.repeat(64), []), failsWith('conflict'));
    assert.deepEqual(await blockedIn(engine), ['net', 'wide']);
  });

  it('[PRM-04] a later widening blocks just that card and marks what is new', async () => {
    const engine = open();
    await engine.acceptAll();
    assert.deepEqual(await blockedIn(engine), []);
    writeCard(engine.root, 'net', asking({ network: ['example.org', 'evil.test'] }));
    const found = await review(engine);
    assert.deepEqual(await blockedIn(engine), ['net']);
    assert.deepEqual(
      found.cards[0]?.permissions.map(({ key, isNew }) => [key, isNew]),
      [
        ['network:evil.test', true],
        ['network:example.org', false],
      ],
    );
    writeCard(engine.root, 'net', asking({ network: ['example.org'] }));
    await review(engine);
    assert.deepEqual(await blockedIn(engine), []);
  });

  it('[PRM-05] nothing is accepted for a copied or exchanged folder', async () => {
    const engine = open();
    await engine.acceptAll();
    cpSync(engine.root, join(folder(), 'copy'), { recursive: true });
    assert.deepEqual(await blockedIn(open(join(folder(), 'copy'))), ['net', 'wide']);
    renameSync(engine.root, join(folder(), 'moved'));
    renameSync(join(folder(), 'copy'), engine.root);
    assert.deepEqual(await blockedIn(open(engine.root)), ['net', 'wide']);
    assert.deepEqual(
      await blockedIn(open(join(folder(), 'moved'))),
      [],
      'the same folder elsewhere (control)',
    );
  });

  it('[PRM-06] nothing can be accepted without a scope', async () => {
    const engine = open(undefined, { scopeOf: () => null });
    const { digest, scope } = await review(engine);
    assert.equal(scope, null);
    await assert.rejects(
      accept(engine, digest, [{ card: 'net', keys: ['network:example.org'] }]),
      failsWith('conflict'),
    );
    assert.deepEqual(statesOf(await engine.run()), { net: 'blocked', plain: 'done', wide: 'blocked' });
  });

  it('[PRM-07] nothing can be accepted in an untrusted workspace', async () => {
    const engine = open(undefined, { trusted: false });
    const { digest } = await review(engine);
    await assert.rejects(
      accept(engine, digest, [{ card: 'net', keys: ['network:example.org'] }]),
      failsWith('not-trusted'),
    );
    engine.services.setTrusted(true);
    assert.deepEqual(await blockedIn(engine), ['net', 'wide']);
  });

  it('[PRM-08] takes a permission back, with a wider one that would still cover it', async () => {
    const engine = open();
    await engine.acceptAll();
    writeCard(engine.root, 'wide', asking({ network: ['example.org'] }));
    await review(engine);
    assert.deepEqual(await blockedIn(engine), [], 'covered by the whole network');
    const revoke = (card: string, key: string) =>
      engine.handlers['permissions/revoke']({ root: engine.root, card, key }, never);
    assert.deepEqual(await revoke('wide', 'network:example.org'), { revoked: true });
    assert.deepEqual(await revoke('wide', 'network:example.org'), { revoked: false });
    assert.deepEqual(await blockedIn(engine), ['wide']);
  });

  it('[PRM-09] a row whose key is not that of its permission counts as none', async () => {
    const engine = open();
    await engine.acceptAll();
    await engine.dispose();
    const { DatabaseSync } = await import('node:sqlite');
    const database = new DatabaseSync(join(folder(), 'home', 'sallyport.sqlite'));
    database.exec(`update consents set permission_json = '{"name":"network","host":"*"}' where card = 'net'`);
    database.exec(`update consents set permission_json = 'not json' where card = 'wide'`);
    database.close();
    assert.deepEqual(await blockedIn(open()), ['net', 'wide']);
  });

  it('refuses a permission that no runner can give, rather than running with less', async () => {
    writeCard(join(folder(), 'project'), 'plain', asking({ environmentSources: ['db'] }));
    const engine = open();
    await engine.acceptAll();
    const { cards } = await engine.run({ cards: ['plain'] });
    assert.equal(cards[0]?.status.reason?.kind, 'bad-card');
    assert.deepEqual(engine.runner.takeRun(), []);
  });
});

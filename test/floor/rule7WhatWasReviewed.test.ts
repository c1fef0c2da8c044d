import assert from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { UserError } from '../../protocol/src/errors.ts';
import type { CardManifest } from '../../protocol/src/manifests.ts';
import { gatedBehaviour } from '../support/fakeRunner.ts';
import { inputsFrom, writeCard, writeProject } from '../support/projectFolder.ts';
import { useTemporaryFolder } from '../support/temporaryFolder.ts';
import { never, statesOf, TestEngine } from '../support/testEngine.ts';

/** Rule 7: what was reviewed is what runs. Changed content asks again. */
describe('floor 7: what was reviewed is what runs', () => {
  const folder = useTemporaryFolder();
  const harmless: CardManifest['permissions'] = { network: ['example.org'] };
  let engine: TestEngine;
  beforeEach(() => {
    const root = writeProject(join(folder(), 'project'), {
      first: {},
      asking: { inputs: inputsFrom('first'), permissions: harmless },
    });
    engine = new TestEngine(join(folder(), 'home'), root);
  });
  afterEach(() => engine.dispose());

  /** Every way in which a card can come to ask for more than was reviewed. */
  const widenings: readonly (readonly [string, CardManifest['permissions']])[] = [
    ['another host', { network: ['example.org', 'evil.test'] }],
    ['another port', { network: ['example.org:22'] }],
    ['a host above', { network: ['*.example.org'] }],
    ['the whole network', { network: true }],
    ['no sandbox', { ...harmless, sandbox: false }],
    ['a folder', { ...harmless, hostFolders: [{ path: '/', name: 'all' }] }],
    ['a folder to write in', { ...harmless, hostFolders: [{ path: '~', name: 'me', write: true }] }],
    ['a secret', { ...harmless, vault: [{ item: 'db', field: 'password', env: 'DB' }] }],
    ['another machine', { ...harmless, executionService: 'ssh:evil.test' }],
    ['an environment of its own', { ...harmless, environmentSources: ['other'] }],
  ];
  for (const [what, permissions] of widenings) {
    it(`[FLOOR-07] ${what}, asked for after the review, blocks the card`, async () => {
      await engine.acceptAll();
      writeCard(engine.root, 'asking', { inputs: inputsFrom('first'), permissions });
      // What no runner can give, or no manifest may ask, is refused before it is asked about.
      assert.match(statesOf(await engine.run())['asking'] ?? '', /^(blocked|failed)$/);
      assert.deepEqual(engine.runner.takeRun(), ['first']);
    });

    it(`[FLOOR-07] ${what}, asked for while a run goes on, does not reach that run`, async () => {
      await engine.acceptAll();
      const gate = gatedBehaviour(engine.runner);
      engine.runner.behave('first', gate.behaviour);
      const runId = await engine.start();
      await gate.entered;
      writeCard(engine.root, 'asking', { inputs: inputsFrom('first'), permissions });
      gate.open();
      assert.deepEqual(statesOf(await engine.finish(runId)), { first: 'done', asking: 'done' });
      const job = engine.runner.jobs.find(({ cardId }) => cardId === 'asking');
      assert.deepEqual(job?.access, { network: { kind: 'hosts', hosts: ['example.org'] }, hostFolders: [] });
    });
  }

  it('[FLOOR-07] what was accepted runs (control)', async () => {
    await engine.acceptAll();
    assert.deepEqual(statesOf(await engine.run()), { first: 'done', asking: 'done' });
  });

  it('[FLOOR-07] code is frozen by content: what is exchanged after the start never runs', async () => {
    await engine.acceptAll();
    const gate = gatedBehaviour(engine.runner);
    engine.runner.behave('first', gate.behaviour);
    const before = await engine.handlers['run/dryRun']({ root: engine.root }, never);
    assert.equal(before.cards[0]?.action, 'run');
    const runId = await engine.start();
    await gate.entered;
    const code = join(engine.root, 'cards/asking/main.py');
    rmSync(code);
    symlinkSync('/etc/passwd', code);
    gate.open();
    assert.equal(statesOf(await engine.finish(runId))['asking'], 'done');
    const again = await engine.run();
    assert.equal(again.cards.find(({ id }) => id === 'asking')?.status.reason?.kind, 'bad-card');
  });

  it('[FLOOR-07] an answer is for one exact question', async () => {
    const shown = await engine.handlers['permissions/review']({ root: engine.root }, never);
    writeCard(engine.root, 'asking', {
      inputs: inputsFrom('first'),
      permissions: { network: ['evil.test'] },
    });
    for (const keys of [['network:example.org'], ['network:evil.test'], []]) {
      await assert.rejects(
        async () =>
          engine.handlers['permissions/accept'](
            { root: engine.root, digest: shown.digest, accepted: [{ card: 'asking', keys }] },
            never,
          ),
        (error) => error instanceof UserError && error.code === 'conflict',
      );
    }
    assert.equal(statesOf(await engine.run())['asking'], 'blocked');
  });
});

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join, resolve } from 'node:path';
import { AgentEngine } from '../support/agentEngine.ts';
import { writeProject } from '../support/projectFolder.ts';
import { until } from '../support/until.ts';
import { useTemporaryFolder } from '../support/temporaryFolder.ts';

interface Setting {
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly scope?: string;
}
interface Manifest {
  readonly contributes: {
    readonly configuration: { readonly properties: Readonly<Record<string, Setting>> };
    readonly commands: readonly { readonly command: string }[];
  };
}

/** Rule 9: only a person opens a door. Workspace files may tighten, never loosen. */
describe('floor 9: only a person opens a door', () => {
  const folder = useTemporaryFolder();
  const manifest = JSON.parse(
    readFileSync(resolve(import.meta.dirname, '../../package.json'), 'utf8'),
  ) as Manifest;
  const settings = Object.entries(manifest.contributes.configuration.properties);

  /** Addresses that open nothing, for what comes from them is checked by something else. */
  const checkedTexts = {
    'sallyport.apps.storeIndex': 'a person confirms the list by its digest, and reviews each app of it',
    'sallyport.apps.packageRegistry':
      'packages count only with the SHA-512 that the reviewed lock file names',
  };

  it('[FLOOR-09] there are settings to look at', () => assert.ok(settings.length > 0));
  for (const [name, setting] of settings) {
    it(`[FLOOR-09] ${name} can’t be set by a workspace, and names no command and no address`, () => {
      assert.equal(setting.scope, 'application');
      const isChosen = setting.type !== 'string' || setting.enum !== undefined;
      assert.ok(isChosen || Object.hasOwn(checkedTexts, name), 'a free text could name either');
      assert.doesNotMatch(name, /key|token|secret|url|address|proxy|header|command|path|grant|approv|trust/i);
    });
  }

  it('[FLOOR-09] no command is there that answers an approval, gives a grant or takes a key', () => {
    const names = manifest.contributes.commands.map(({ command }) => command);
    assert.ok(names.length > 0);
    assert.deepEqual(
      names.filter(
        (name) => /\.(allow|approve|accept|answer|grant|setKey|trust)/i.test(name) && !/review/i.test(name),
      ),
      [],
    );
  });

  it('[FLOOR-09] the engine listens nowhere, before, during and after a conversation', async () => {
    const root = writeProject(join(folder(), 'project'), { first: {} });
    const before = listeners();
    const agent = new AgentEngine(join(folder(), 'home'), root);
    try {
      await agent.connect('anthropic', [{ calls: [{ name: 'list', args: {} }] }, { text: ['Done.'] }]);
      const { id } = await agent.create('anthropic');
      await agent.call('grant/give', { root, kind: 'read', conversation: id, folder: '' });
      const during: number[] = [];
      const looking = setInterval(() => during.push(listeners()), 1);
      await agent.ask(id, 'List the files.');
      clearInterval(looking);
      // The one that is there is the scripted provider of this test.
      assert.deepEqual([...new Set([...during, listeners()])], [before + 1]);
    } finally {
      await agent.dispose();
    }
    await until(() => listeners() === before);
  });

  it('[FLOOR-09] a listener would be seen (control)', async () => {
    const before = listeners();
    const server = createServer();
    await new Promise<void>((done) => server.listen(join(folder(), 'socket'), done));
    assert.equal(listeners(), before + 1);
    await new Promise<void>((done) => server.close(() => done()));
  });
});

/** Sockets of this process on which somebody could connect, TCP and Unix; a Unix one counts as any pipe does. */
function listeners(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap' || name === 'PipeWrap')
    .length;
}

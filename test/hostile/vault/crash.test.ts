import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgentsVault, openAgentsVault } from '../../../extension/src/vault/core/agentsVault.ts';
import { nodeFiles, type VaultFiles } from '../../../extension/src/vault/core/vaultFiles.ts';
import { loginDraft, read, VaultHarness } from '../../support/vaultHarness.ts';

const program = join(import.meta.dirname, '../../support/crashVault.ts');

describe('a vault whose process is killed', () => {
  let harness: VaultHarness;
  before(async () => {
    harness = new VaultHarness();
    const vault = await harness.create('model', { counters: null });
    await vault.save(loginDraft('one', 'first'));
    await vault.save(loginDraft('two', 'other'));
    vault.lock();
  });
  after(() => harness.close());

  /** What a vault holds, in one line. */
  async function holding(name: string): Promise<string> {
    const vault = await harness.open(name, { counters: null });
    const items = await Promise.all(
      vault.list().map(async ({ id, version }) => `${id} ${version} ${await read(vault, id)}`),
    );
    vault.lock();
    return items.join(', ');
  }

  const before1 = 'one 1 first, two 1 other';
  const acts: Readonly<Record<string, { readonly after: string; readonly least: number }>> = {
    save: { after: 'one 2 second, two 1 other', least: 7 },
    remove: { after: 'one 1 first', least: 9 },
    rekey: { after: before1, least: 9 },
  };

  for (const [act, { after: done, least }] of Object.entries(acts)) {
    it(`[SEAL-06] V21 ${act}: at each write, fsync and rename, the state before or the state after`, async () => {
      const seen = new Set<string>();
      let killed = 0;
      for (const mode of act === 'rekey' ? ['before'] : ['before', 'half']) {
        for (let call = 0; ; call += 1) {
          const name = `${act}-${mode}-${call}`;
          harness.copy('model', name);
          const isDone = await runCrash(name, act, call, mode);
          const found = await holding(name);
          assert.ok(found === before1 || found === done, `${name}: ${found}`);
          seen.add(found);
          // What was left behind is in nobody's way, and does not stay.
          const vault = await harness.open(name, { counters: null });
          await vault.save(loginDraft('three', 'next'));
          await vault.remove('three');
          assert.deepEqual(
            readdirSync(join(harness.root, name)).filter((file) => !/^(vault\.json|rows-[0-9]+)$/.test(file)),
            [],
          );
          assert.equal(readdirSync(join(harness.root, name)).length, 2);
          rmSync(join(harness.root, name), { recursive: true });
          if (isDone) break;
          killed++;
        }
      }
      assert.ok(killed >= least, `${killed} kills`);
      assert.deepEqual(seen, new Set([before1, done]));
    });
  }

  it('[SEAL-06] V21 create: nothing yet, or an empty vault', async () => {
    for (let call = 0; ; call++) {
      const name = `create-${call}`;
      const isDone = await runCrash(name, 'create', call, 'before');
      const result = await openAgentsVault(harness.place(name, { counters: null }), harness.deviceKey);
      const isEmpty = result.state === 'open' && result.vault.list().length === 0;
      assert.ok(isEmpty || result.state === 'absent', `${name}: ${result.state}`);
      if (!isEmpty) await harness.create(name, { counters: null });
      if (isDone) {
        assert.ok(isEmpty && call >= 6);
        break;
      }
    }
  });

  it('[SEAL-06] control: rows overwritten in place are lost with the process', async () => {
    harness.copy('model', 'naive');
    const path = readdirSync(join(harness.root, 'naive')).find((name) => name.startsWith('rows-')) ?? '';
    writeFileSync(join(harness.root, 'naive', path), 'half a');
    await assert.rejects(harness.open('naive', { counters: null }), /truncated/);
  });

  it('[SEAL-18] a full disk, at each write: said, nothing changed, and it works when there is room', async () => {
    for (const act of ['save', 'remove'] as const) {
      for (let call = 0; ; call++) {
        harness.copy('model', 'full');
        let isFull = false;
        let calls = 0;
        const files: VaultFiles = {
          ...nodeFiles,
          writeSync: ((...args: Parameters<VaultFiles['writeSync']>) => {
            if (isFull && calls++ >= call) throw Object.assign(new Error('full'), { code: 'ENOSPC' });
            return nodeFiles.writeSync(...args);
          }) as VaultFiles['writeSync'],
        };
        const vault = await harness.open('full', { counters: null, files });
        const change = () =>
          act === 'save' ? vault.save(loginDraft('one', 'second', 1)) : vault.remove('two');
        isFull = true;
        const failed = await change().then(
          () => false,
          (error: unknown) => {
            assert.equal((error as { code: string }).code, 'disk-full');
            return true;
          },
        );
        isFull = false;
        if (failed) {
          assert.equal(await read(vault, 'one'), 'first');
          assert.equal(vault.list().length, 2);
          assert.equal(await holding('full'), before1);
          await change();
        }
        assert.equal(await holding('full'), acts[act]?.after);
        rmSync(join(harness.root, 'full'), { recursive: true });
        if (!failed) {
          assert.ok(call >= 2);
          break;
        }
      }
    }
  });

  it('[SEAL-18] a full disk while it is created leaves a place where it can be created', async () => {
    const files: VaultFiles = {
      ...nodeFiles,
      writeSync: () => {
        throw Object.assign(new Error('full'), { code: 'ENOSPC' });
      },
    };
    const place = harness.place('fresh', { counters: null, files });
    await assert.rejects(createAgentsVault(place, harness.deviceKey), { code: 'disk-full' });
    await harness.create('fresh', { counters: null });
  });

  /** True where the act was done before the call. */
  async function runCrash(name: string, act: string, call: number, mode: string): Promise<boolean> {
    const key = harness.deviceKey.use((bytes) => bytes.toString('hex'));
    const folder = join(harness.root, name);
    const child = spawn(process.execPath, [program, folder, key, act, String(call), mode], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    let text = '';
    child.stdout.on('data', (chunk: Buffer) => (text += chunk.toString()));
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve) => {
      child.on('close', (...ended) => resolve(ended));
    });
    if (code === 0 && text === 'done\n') return true;
    assert.equal(signal, 'SIGKILL', `${name}: ${code}`);
    return false;
  }
});

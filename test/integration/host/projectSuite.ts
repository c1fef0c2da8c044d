import assert from 'node:assert/strict';
import * as vscode from 'vscode';
import { commandIds } from '../../../extension/src/commandIds.ts';
import { runSuite } from './runSuite.ts';
import { steps } from './steps.ts';

/** Runs in a window whose folder is the fixture project `tiny`. */
export function run(): Promise<void> {
  return runSuite(() => {
    describe('in a folder with a project', () => {
      it('[START-03] the extension becomes active by itself', async () => {
        await until('the extension is active', steps.isActive);
      });

      it('[START-03] one engine runs in a process of its own', async () => {
        await until('an engine runs', () => steps.enginePids().length === 1);
      });

      it('[START-03] every command of the manifest is there', async () => {
        const known = new Set(await vscode.commands.getCommands(true));
        assert.deepEqual(
          commandIds.filter((id) => !known.has(id)),
          [],
        );
      });

      it('[DIAG-01] a sound manifest has no problem and offers to run', async () => {
        const [folder] = vscode.workspace.workspaceFolders ?? [];
        assert.ok(folder);
        const path = vscode.Uri.joinPath(folder.uri, 'cards/hello/_card.json').fsPath;
        await steps.open({ path });
        await untilAsync('lenses', async () =>
          (await steps.lenses({ path })).some((title) => /run/i.test(title)),
        );
        assert.deepEqual(steps.diagnostics({ path }), []);
      });

      it('[RUNUI-01] a command with arguments of no sense answers and throws nothing', async () => {
        for (const args of [[null], [7], [{ root: 1 }], [{ root: '/nowhere', card: 'gone' }]]) {
          await vscode.commands.executeCommand('sallyport.openManifest', ...args, { card: 'gone' });
        }
      });
    });
  });
}

async function until(what: string, isSo: () => boolean): Promise<void> {
  await untilAsync(what, async () => isSo());
}

async function untilAsync(what: string, isSo: () => Promise<boolean>): Promise<void> {
  const end = performance.now() + 40_000;
  while (performance.now() < end) {
    if (await isSo()) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  assert.fail(`Waited in vain until ${what}`);
}

import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { runSuite } from './runSuite.ts';
import { steps } from './steps.ts';

/** Runs in a window whose folder holds no project. */
export function run(): Promise<void> {
  return runSuite(() => {
    describe('in a folder without a project', () => {
      it('[START-01] the extension is there and not active', () => {
        assert.ok(vscode.extensions.getExtension('sallyport.sallyport'));
        assert.equal(steps.isActive(), false);
      });

      it('[START-01] a file that is no manifest does not activate it', async () => {
        const document = await vscode.workspace.openTextDocument({ language: 'json', content: '{}' });
        await vscode.window.showTextDocument(document);
        assert.equal(steps.isActive(), false);
      });

      it('[START-02] a command that needs no engine activates it and starts none', async () => {
        await vscode.commands.executeCommand('sallyport.showLog');
        assert.equal(steps.isActive(), true);
        assert.deepEqual(steps.enginePids(), []);
      });

      it('[START-02] commands that need a project say so without starting the engine', async () => {
        for (const command of [
          'runProject',
          'runCard',
          'dryRun',
          'reviewPermissions',
          'revokePermission',
          'openEgressLog',
          'cancelRun',
          'openManifest',
          'openCode',
          'whyRunAgain',
        ]) {
          void vscode.commands.executeCommand(`sallyport.${command}`);
        }
        await vscode.commands.executeCommand('notifications.clearAll');
        assert.deepEqual(steps.enginePids(), []);
      });

      it('[START-04] a manifest that is opened is checked, without a project', async () => {
        const folder = mkdtempSync(join(tmpdir(), 'sallyport-loose-'));
        try {
          const path = join(folder, '_card.json');
          writeFileSync(path, '{ "version": 1, "titel": "Loose" }');
          await steps.open({ path });
          const end = performance.now() + 50_000;
          const shown = () => ({
            engines: steps.enginePids(),
            diagnostics: steps.diagnostics({ path }),
            documents: vscode.workspace.textDocuments.map(({ uri, languageId }) => [uri.path, languageId]),
            log: vscode.workspace.textDocuments.find(({ languageId }) => languageId === 'log')?.getText(),
          });
          while (!steps.diagnostics({ path }).some(({ message }) => message.includes('titel'))) {
            assert.ok(performance.now() < end, `no diagnostic came: ${JSON.stringify(shown())}`);
            await new Promise((resolve) => setTimeout(resolve, 50));
          }
          assert.equal(steps.enginePids().length, 1);
        } finally {
          rmSync(folder, { recursive: true, force: true });
        }
      });
    });
  });
}

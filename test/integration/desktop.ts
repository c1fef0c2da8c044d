import { runTests } from '@vscode/test-electron';
import { hostBundle, stagedExtension } from '../support/stagedExtension.ts';
import { hostSuites, openFolder } from './hostTests.ts';

/**
 * Runs the suites of the extension host in desktop VS Code, which is downloaded: for a computer that reaches VS Code's
 * update server and has a display. `main.ts` needs neither.
 */
const extensionDevelopmentPath = await stagedExtension();
let failed = 0;
for (const { bundle, project } of hostSuites) {
  const { folder, remove } = await openFolder(project);
  try {
    await runTests({
      extensionDevelopmentPath,
      extensionTestsPath: await hostBundle(bundle),
      launchArgs: [folder, '--disable-workspace-trust', '--skip-welcome', '--disable-extensions'],
    });
  } catch (error) {
    failed++;
    console.error(`${bundle}: ${String(error)}`);
  } finally {
    await remove();
  }
}
console.log(`${hostSuites.length - failed} passed, ${failed} failed`);
process.exit(failed > 0 ? 1 : 0);

import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Frame } from 'playwright-core';
import { launchChromium } from '../support/chromium.ts';
import { AppsWindow } from '../support/appsWindow.ts';
import { sampleAppsFolder } from '../support/sampleApps.ts';
import { copyOfProject, hostBundle, stagedExtension } from '../support/stagedExtension.ts';
import { startVscodeServer } from '../support/vscodeServer.ts';
import { VscodeWindow } from '../support/vscodeWindow.ts';
import { median, ratioRow, type BenchRow } from './benchRow.ts';

/**
 * Calls of an app in real VS Code: page, shell, extension host, engine and back. Beside the round trip to the engine
 * stands one that the extension refuses by itself, which is what VS Code takes for a message each way.
 */
export async function appsInWindowBench(): Promise<BenchRow[]> {
  const [extension, tests, browser, project] = await Promise.all([
    stagedExtension(),
    hostBundle('bridge'),
    launchChromium(),
    copyOfProject('tiny'),
  ]);
  const bridgeFile = join(tmpdir(), `sallyport-bridge-${randomUUID()}.json`);
  const server = await startVscodeServer({
    hasTrust: false,
    isTestDriver: true,
    env: { SALLYPORT_TEST_BRIDGE: bridgeFile },
  });
  try {
    const window = await VscodeWindow.open(browser, server, {
      folder: project.folder,
      extension,
      tests,
      bridgeFile,
    });
    const frame = await openNotes(window);
    // A person is asked at most five things in ten seconds, so this one is measured five times.
    const extensionMs = await medianOf(frame, `sallyport.downloads.save('con', '').catch(() => 0)`, 5);
    const engineMs = await medianOf(frame, 'sallyport.files.quota()', 200);
    const pluginMs = await medianOf(frame, `sallyport.plugins.call('search', 'find', { query: 'x' })`, 50);
    const row = (name: string, ours: number) =>
      ratioRow({ group: 'apps', name, ours, peer: extensionMs, unit: 'ms', goal: '' }, null);
    return [
      row('in VS Code: call answered by the engine, by one answered by the extension', engineMs),
      row('in VS Code: call of a plugin, by one answered by the extension', pluginMs),
    ];
  } finally {
    await browser.close();
    await server.stop();
    await project.remove();
  }
}

async function openNotes(window: VscodeWindow): Promise<Frame> {
  const apps = new AppsWindow(window);
  await apps.open();
  await apps.stage('Folder', `${join(sampleAppsFolder, 'notes')}/`);
  await apps.review('Install Notes 1.0.0');
  await apps.answer('Install Notes 1.0.0');
  await apps.notice(/Notes 1\.0\.0 is installed/, 'Open App');
  await (await apps.app()).getByRole('button', { name: 'New' }).waitFor();
  const frame = window.page.frames().find((each) => each.url() === 'about:srcdoc');
  if (!frame) throw new Error('The app has no frame');
  return frame;
}

async function medianOf(frame: Frame, call: string, count: number): Promise<number> {
  const times = await frame.evaluate<number[], [string, number]>(
    async ([text, wanted]) => {
      const run = (0, eval)(`() => ${text}`) as () => Promise<unknown>;
      const taken: number[] = [];
      for (let n = 0; n < wanted; n++) {
        const startedAt = performance.now();
        await run();
        taken.push(performance.now() - startedAt);
      }
      return taken;
    },
    [call, count],
  );
  return median(times);
}

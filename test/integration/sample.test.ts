import assert from 'node:assert/strict';
import { axe } from '../support/windowAxe.ts';
import { useWindow } from '../support/useWindow.ts';
import type { VscodeWindow } from '../support/vscodeWindow.ts';

const canvasSelector = '[data-sallyport-page="canvas"], .react-flow';
const themes = [
  ['light', 'Default Light Modern'],
  ['dark', 'Default Dark Modern'],
  ['high-contrast', 'Default High Contrast'],
] as const;

async function useTheme(window: VscodeWindow, name: string): Promise<void> {
  await window.host('setting', { section: 'workbench', name: 'colorTheme', value: name });
}

describe('the sample project', () => {
  const used = useWindow('seattle-weather');

  it('[MAIN-01] runs sealed from the side bar, in order, and shows every state on the canvas', async function () {
    this.timeout(120_000);
    const { window } = used();
    await window.openSideBar();
    await window
      .row('Cards', /not run|blocked/)
      .first()
      .waitFor({ timeout: 60_000 });
    await window.host('command', { command: 'workbench.action.closeAuxiliaryBar' });
    await window.titleAction('Cards', 'Run Project');
    const canvas = await window.webview(canvasSelector);
    await window.until(
      'the end of the run',
      async () => (await window.row('Runs', /(done|failed), |(done|failed) · /).count()) > 0,
      60_000,
    );
    for (const title of ['Load', 'Monthly', 'Kinds', 'Report']) {
      await window.row('Cards', new RegExp(`^${title}[^,]*, done`)).waitFor();
    }
    await canvas.getByText(/done/).first().waitFor();
    await window.screenshot('sample-canvas');
  });

  it('[MAIN-02] brings every card from the cache the second time', async () => {
    const { window, folder } = used();
    await window.host('command', { command: 'sallyport.runProject', args: [{ root: folder }] });
    await window.row('Cards', /^Load[^,]*, from cache/).waitFor();
  });

  it('[MAIN-03] draws a chart in the run view', async () => {
    const { window, folder } = used();
    await window.host('command', { command: 'sallyport.openRun', args: [{ root: folder, card: 'monthly' }] });
    const run = await window.webview('iframe[sandbox="allow-scripts"]');
    await run.locator('iframe[sandbox="allow-scripts"]').first().waitFor();
    await window.until('a drawn chart', async () => {
      const chart = run.frameLocator('iframe[sandbox="allow-scripts"]').locator('svg, canvas').first();
      const box = await chart.boundingBox();
      return box !== null && box.width > 100 && box.height > 100;
    });
    await window.screenshot('sample-chart');
  });

  it('[A11Y-01] leaves axe-core nothing to say about the canvas and the run view', async () => {
    const { window, folder } = used();
    const run = await window.webview('iframe[sandbox="allow-scripts"]');
    assert.deepEqual(await axe(run), []);
    await window.host('command', { command: 'sallyport.openCanvas', args: [{ root: folder }] });
    const canvas = await window.webview(canvasSelector);
    assert.deepEqual(await axe(canvas), []);
  });

  for (const [kind, theme] of themes) {
    it(`[A11Y-02] can be read in a ${kind} theme`, async () => {
      const { window, folder } = used();
      await useTheme(window, theme);
      await window.host('command', { command: 'sallyport.openCanvas', args: [{ root: folder }] });
      const canvas = await window.webview(canvasSelector);
      await window.until('the theme in the page', async () => {
        const classes = await canvas.locator('body').getAttribute('class');
        return classes?.includes(`vscode-${kind}`);
      });
      await window.screenshot(`theme-${kind}-canvas`);
      assert.deepEqual(await axe(canvas), []);
      await window.host('command', {
        command: 'sallyport.openRun',
        args: [{ root: folder, card: 'monthly' }],
      });
      await (await window.webview('iframe[sandbox="allow-scripts"]')).locator('body').waitFor();
      await window.screenshot(`theme-${kind}-run`);
    });
  }
});

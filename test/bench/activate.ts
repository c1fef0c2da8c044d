import * as z from 'zod/mini';
import { launchChromium } from '../support/chromium.ts';
import { copyOfProject, hostBundle, stagedExtension } from '../support/stagedExtension.ts';
import { startVscodeServer } from '../support/vscodeServer.ts';
import { VscodeWindow } from '../support/vscodeWindow.ts';
import { limitRow, median, missingRow, ratioRow, type BenchRow } from './benchRow.ts';

const group = 'activate';
const rounds = 3;
const measured = z.object({ loadMs: z.nullable(z.number()), activateMs: z.nullable(z.number()) });

/** What the extension costs the window at its start, by VS Code's own marks in the real extension host. */
export async function activateBench(): Promise<BenchRow[]> {
  const [extension, tests, browser] = await Promise.all([
    stagedExtension(),
    hostBundle('activateBench'),
    launchChromium(),
  ]);
  const loads: number[] = [];
  const activations: number[] = [];
  const project = await copyOfProject('seattle-weather');
  try {
    for (let round = 0; round < rounds; round++) {
      const server = await startVscodeServer({ hasTrust: false, isTestDriver: true });
      try {
        const window = await VscodeWindow.open(browser, server, { folder: project.folder, extension, tests });
        const [result] = await window.suiteResults();
        const { loadMs, activateMs } = measured.parse(JSON.parse(result?.title ?? '{}'));
        if (loadMs !== null) loads.push(loadMs);
        if (activateMs !== null) activations.push(activateMs);
        await window.close();
      } finally {
        await server.stop();
      }
    }
  } finally {
    await browser.close();
    await project.remove();
  }
  if (loads.length === 0 || activations.length === 0)
    return [missingRow(group, 'activate: this VS Code gives no marks', '≤ 50 ms')];
  return [
    limitRow({ group, name: 'activate() itself', ours: median(activations), unit: 'ms' }, 50),
    ratioRow(
      {
        group,
        name: 'loading the extension’s file before it',
        ours: median(loads),
        peer: null,
        unit: 'ms',
        goal: '',
      },
      null,
    ),
  ];
}

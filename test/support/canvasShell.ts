import type { Page } from 'playwright-core';
import type { CardView, RunSummary } from '../../protocol/src/engine.ts';
import { canvasHost, canvasView } from '../../protocol/src/webview.ts';
import { openShell } from './shellPage.ts';
import type { ThemeName } from './themes.ts';

export interface CanvasFixture {
  readonly cards: readonly CardView[];
  readonly run?: RunSummary | null;
  readonly name?: string;
  readonly trusted?: boolean;
  readonly theme?: ThemeName;
}

/** The canvas in the real shell. `asked` lists what the page asked the extension for, as `verb card`. */
export async function openCanvasShell(page: Page, url: string, fixture: CanvasFixture) {
  const asked: string[] = [];
  const note =
    (verb: string) =>
    ({ card }: { card?: string }) => {
      asked.push(card === undefined ? verb : `${verb} ${card}`);
      return null;
    };
  const shell = await openShell(page, url, {
    local: canvasHost,
    remote: canvasView,
    notificationHandlers: {},
    ...(fixture.theme ? { theme: fixture.theme } : {}),
    requestHandlers: {
      'canvas/ready': () => null,
      'canvas/runProject': note('runProject'),
      'canvas/runCard': note('runCard'),
      'canvas/cancel': note('cancel'),
      'canvas/openManifest': note('openManifest'),
      'canvas/openCode': note('openCode'),
      'canvas/openResult': note('openResult'),
      'canvas/openRun': note('openRun'),
      'canvas/reviewPermissions': note('reviewPermissions'),
    },
  });
  shell.channel.notify('canvas/project', {
    root: '/project',
    name: fixture.name ?? 'seattle-weather',
    trusted: fixture.trusted ?? true,
    cards: [...fixture.cards],
    run: fixture.run ?? null,
  });
  return { ...shell, asked };
}

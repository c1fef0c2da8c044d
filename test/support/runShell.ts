import type { Page } from 'playwright-core';
import type { CardRunView, LogLine } from '../../protocol/src/engine.ts';
import type { PortType } from '../../protocol/src/manifests.ts';
import { runHost, runWebview, type libraryNames } from '../../protocol/src/webview.ts';
import { sampleRun } from './sampleViews.ts';
import { openShell } from './shellPage.ts';
import type { ThemeName } from './themes.ts';
import { webviewFile } from './webviews.ts';

/** What the run view is shown: results by `card/port`, logs by card run. */
export interface RunFixture {
  readonly cards: readonly CardRunView[];
  readonly selected?: string;
  readonly outputs?: Readonly<Record<string, { readonly type: PortType; readonly content: string | Buffer }>>;
  readonly theme?: ThemeName;
  log?(cardRunId: string, line: number): LogLine;
  why?(card: string): string[];
}

/** The run view in the real shell, with this process in the place of the extension. `asked` lists what the page asked for. */
export async function openRunShell(page: Page, url: string, fixture: RunFixture) {
  const asked: string[] = [];
  const pictures: { format: string; base64: string }[] = [];
  const note = (what: string) => () => {
    asked.push(what);
    return null;
  };
  const shell = await openShell(page, url, {
    local: runHost,
    remote: runWebview,
    notificationHandlers: {},
    ...(fixture.theme ? { theme: fixture.theme } : {}),
    requestHandlers: {
      'run/ready': () => null,
      'run/readLog': ({ cardRunId, fromLine, count }) => {
        const totalLines = fixture.cards.find(({ status }) => status.cardRunId === cardRunId)?.logLines ?? 0;
        const size = Math.max(0, Math.min(count, totalLines - fromLine));
        const lines = Array.from({ length: size }, (_, index) =>
          fixture.log
            ? fixture.log(cardRunId, fromLine + index)
            : { stream: 'stdout' as const, text: `line ${fromLine + index + 1}`, cutBytes: 0 },
        );
        return { lines, totalLines, cutBytes: 0 };
      },
      'run/readOutput': ({ card, port }) => {
        const output = fixture.outputs?.[`${card}/${port}`];
        if (!output) throw new Error(`no fixture ${card}/${port}`);
        const bytes = Buffer.from(output.content);
        return { type: output.type, base64: bytes.toString('base64'), sizeBytes: bytes.length };
      },
      'run/readLibrary': async ({ name }: { name: (typeof libraryNames)[number] }) => ({
        text: await webviewFile(`${name}.js`),
      }),
      'run/openOutput': ({ card, port }) => note(`openOutput ${card}/${port}`)(),
      'run/openPage': ({ card, port }) => note(`openPage ${card}/${port}`)(),
      'run/savePicture': ({ format, base64 }) => {
        pictures.push({ format, base64 });
        return { saved: true };
      },
      'run/why': ({ card }) => ({ lines: fixture.why?.(card) ?? [] }),
      'run/cancel': note('cancel'),
      'run/again': note('again'),
      'run/openEgressLog': note('openEgressLog'),
    },
  });
  shell.channel.notify('run/state', {
    run: sampleRun({ state: 'done', counts: { done: fixture.cards.length } }),
    cards: [...fixture.cards],
    selected: fixture.selected ?? null,
  });
  return { ...shell, asked, pictures };
}

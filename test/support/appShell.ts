import type { BrowserContext, Frame, Page } from 'playwright-core';
import { appPageHost, appPageView } from '../../protocol/src/appHost.ts';
import { bridgeRefusal, bridgeValue } from '../../protocol/src/bridge.ts';
import { openShell } from './shellPage.ts';
import type { ThemeName } from './themes.ts';
import { webviewFile } from './webviews.ts';

/** A call that reached the extension's side. */
export interface PassedCall {
  readonly method: string;
  readonly params: unknown;
  readonly callId: string | undefined;
}

export interface OpenAppOptions {
  readonly html: string;
  readonly theme?: ThemeName;
  readonly frameScript?: string;
  /** Answers for the extension and the engine: a value, or a thrown error. */
  readonly answer?: (call: PassedCall, tell: (text: string) => void, signal: AbortSignal) => unknown;
}

/** The shell of an app in a page of its own, with this process as the extension. */
export async function openAppShell(context: BrowserContext, url: string, options: OpenAppOptions) {
  const page = await context.newPage();
  const passed: PassedCall[] = [];
  const problems: { kind: string; text: string }[] = [];
  let opened = 0;
  const frameScript = options.frameScript ?? (await webviewFile('appFrame.js'));
  const shell = await openShell(page, url, {
    local: appPageHost,
    remote: appPageView,
    ...(options.theme === undefined ? {} : { theme: options.theme }),
    requestHandlers: {
      'appPage/frame': () => ({ app: 'attack', frameScript }),
      'appPage/document': () => {
        opened++;
        return { name: 'Attack', document: new TextEncoder().encode(options.html).buffer };
      },
      'appPage/call': async ({ method, params, callId }, signal) => {
        const call = { method, params: JSON.parse(params) as unknown, callId };
        passed.push(call);
        if (!options.answer) return { answer: bridgeRefusal('internal', 'Nobody answers') };
        const tell = (text: string) =>
          callId === undefined ? undefined : shell.channel.notify('appPage/chunk', { callId, text });
        return { answer: bridgeValue(await options.answer(call, tell, signal)) };
      },
    },
    notificationHandlers: { 'appPage/problem': (problem) => void problems.push(problem) },
  });
  return { page, shell, passed, problems, opened: () => opened };
}

/** The app's own frame, once it is there. */
export async function appFrameOf(page: Page): Promise<Frame> {
  const handle = await page.waitForSelector('iframe', { state: 'attached' });
  const frame = await handle.contentFrame();
  if (!frame) throw new Error('The frame has no document');
  return frame;
}

/**
 * Runs `code`, an expression, in the app's realm and resolves with what it gives, once the app's own document is complete.
 * The one before it is so too: only the app's has the mark of a theme.
 */
export async function inApp<T>(page: Page, code: string): Promise<T> {
  const frame = await appFrameOf(page);
  await frame.waitForFunction(
    () =>
      document.querySelector('html[data-vscode-theme-kind]') !== null && document.readyState === 'complete',
  );
  return frame.evaluate<T, string>((text) => (0, eval)(text) as T, code);
}

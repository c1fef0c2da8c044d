import type { Page } from 'playwright-core';
import { Channel, type Transport } from '../../protocol/src/channel.ts';
import type { NotificationHandlers, RequestHandlers, Side } from '../../protocol/src/contract.ts';
import { themes, type ThemeName } from './themes.ts';

declare global {
  interface Window {
    sallyportPost(message: unknown): void;
    /** What opaque frames posted to the shell's window, for tests to read. */
    seen: unknown[];
    /** Events that a frame managed to synthesise in the shell. */
    keys: string[];
    state: unknown;
  }
}

export interface OpenShell<Remote extends Side> {
  readonly channel: Channel<Side, Remote>;
  /** Methods of messages that did not fit the contract. */
  readonly bad: string[];
  /** Console errors of the shell and its frames. */
  readonly consoleErrors: string[];
}

/**
 * Opens a shell in the place where VS Code would: with `acquireVsCodeApi`, the theme's variables and classes, and this
 * process as the extension's side of the channel.
 */
export async function openShell<Local extends Side, Remote extends Side>(
  page: Page,
  url: string,
  options: {
    readonly local: Local;
    readonly remote: Remote;
    readonly requestHandlers: RequestHandlers<Local['requests']>;
    readonly notificationHandlers: NotificationHandlers<Local['notifications']>;
    readonly theme?: ThemeName;
  },
): Promise<OpenShell<Remote>> {
  const bad: string[] = [];
  const consoleErrors: string[] = [];
  page.on('console', (message) => message.type() === 'error' && consoleErrors.push(message.text()));
  page.on('pageerror', (error) => consoleErrors.push(error.message));
  let receive: (message: unknown) => void = () => undefined;
  await page.exposeBinding('sallyportPost', (_source, message: unknown) => receive(message));
  await page.addInitScript(asVsCode, themes[options.theme ?? 'dark']);
  const transport: Transport = {
    send: (message) => {
      void page.evaluate(postToShell, withoutBuffers(message)).catch(() => undefined);
    },
    start: (onMessage) => (receive = onMessage),
    close: () => undefined,
  };
  const channel = new Channel(transport, options.remote, {
    local: options.local,
    requestHandlers: options.requestHandlers,
    notificationHandlers: options.notificationHandlers,
    onBadMessage: (method) => bad.push(method),
  });
  await page.goto(url);
  return { channel: channel as unknown as Channel<Side, Remote>, bad, consoleErrors };
}

/** Playwright carries JSON; VS Code also carries buffers. */
function withoutBuffers(value: unknown): unknown {
  if (value instanceof ArrayBuffer) return { base64OfBuffer: Buffer.from(value).toString('base64') };
  if (Array.isArray(value)) return value.map(withoutBuffers);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, withoutBuffers(member)]));
}

/** Runs in the page. */
function postToShell(message: unknown): void {
  const revived = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(revived);
    if (typeof value !== 'object' || value === null) return value;
    const base64 = Reflect.get(value, 'base64OfBuffer') as unknown;
    if (typeof base64 === 'string') return Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)).buffer;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, revived(member)]));
  };
  window.postMessage(revived(message), window.origin);
}

/** Runs in every document; only the top one is the webview. */
function asVsCode(theme: { classes: string; variables: Record<string, string> }): void {
  if (window !== window.top) return;
  window.seen = [];
  window.keys = [];
  window.addEventListener('message', (event) => {
    if (event.origin === 'null') window.seen.push(event.data);
  });
  window.addEventListener('keydown', (event) => window.keys.push(event.key), true);
  Reflect.set(window, 'acquireVsCodeApi', () => ({
    postMessage: (message: unknown) => window.sallyportPost(message),
    getState: () => window.state,
    setState: (state: unknown) => (window.state = state),
  }));
  const apply = () => {
    const body = document.querySelector('body');
    if (!body) return false;
    body.className = theme.classes;
    for (const [name, value] of Object.entries(theme.variables)) {
      document.documentElement.style.setProperty(name, value);
    }
    return true;
  };
  if (!apply()) {
    const observer = new MutationObserver(() => apply() && observer.disconnect());
    observer.observe(document, { childList: true, subtree: true });
  }
}

import { appFrame, appShell } from '../../../protocol/src/appHost.ts';
import type { AppTheme } from '../../../protocol/src/bridge.ts';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { portTransport } from '../frame/portTransport.ts';
import type { TrustedSinks } from '../view/lockDown.ts';
import { keepLinksInside } from '../view/keepLinksInside.ts';
import { keepFocusModest, tellFocus } from '../view/modestFocus.ts';
import { findOpenDoors } from '../view/probe.ts';
import { AppStyles, markKind } from './appStyles.ts';
import { BridgeCalls } from './bridgeCalls.ts';
import { createSallyport } from './createSallyport.ts';

import { enterPage, leaveByKey } from './pageManners.ts';
import { submitForms } from './submitForms.ts';
import { tellProblems } from './tellProblems.ts';
import { withScriptsApart } from './withScriptsApart.ts';

/**
 * Answers the shell over `port`, tells it first whether this frame is closed, and then shows the app that it sends.
 * The app shares this realm: what it can do to this code, it can do only to itself.
 */
export function serveAppShell(port: MessagePort, sinks: TrustedSinks): void {
  // A method of its own: the app may change the prototype, and would get the port with the next message.
  Object.defineProperty(port, 'postMessage', { value: port.postMessage.bind(port) });
  const styles = new AppStyles(document);
  const themes = new EventTarget();
  let theme: AppTheme | undefined;

  const channel: Channel<typeof appFrame, typeof appShell> = new Channel(portTransport(port), appShell, {
    local: appFrame,
    requestHandlers: { 'app/ping': () => null },
    notificationHandlers: {
      'app/show': (shown) => {
        theme = shown.theme;
        try {
          show(new TextDecoder().decode(shown.document), shown.theme);
        } catch (error) {
          channel.notify('app/problem', { kind: 'error', text: errorMessage(error).slice(0, 2000) });
        }
        channel.notify('app/shown', {});
      },
      'app/theme': (changed) => {
        theme = changed;
        styles.setTheme(changed);
        themes.dispatchEvent(new Event('change'));
      },
      'app/chunk': ({ stream, text }) => calls.hear(stream, text),
      'app/enter': () => enterPage(document),
    },
  });
  const calls = new BridgeCalls((params, signal) =>
    channel.call('app/call', params, { signal, timeoutMs: 0 }),
  );
  const sallyport = createSallyport(calls, {
    current: () => theme,
    onChange: (listener) => {
      const onChange = () => theme && listener(theme);
      themes.addEventListener('change', onChange);
      return () => themes.removeEventListener('change', onChange);
    },
  });
  Object.defineProperty(window, 'sallyport', { value: sallyport });

  const show = (markup: string, first: AppTheme) => {
    const page = sinks.parsePage(markup);
    markKind(page.documentElement, first);
    sinks.writePage(withScriptsApart(page), () => {
      // Opening the document took every listener away; these are the first again.
      styles.put();
      styles.setTheme(first);
      leaveByKey(window, () => channel.notify('app/leave', {}));
      keepLinksInside(document, (url) => void sallyport.links.open(url).catch(() => undefined));
      submitForms(document);
      tellFocus(window, (isHere) => channel.notify('app/keyboard', { isHere }));
      keepFocusModest(window);
      tellProblems(window, (kind, text) => channel.notify('app/problem', { kind, text }));
    });
  };

  void findOpenDoors(window).then((problem) =>
    channel.notify('app/ready', { netClosed: problem === '', problem }),
  );
}

import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { viewFrame, viewHost, viewLimits, type ViewTheme } from '../../../protocol/src/webview.ts';
import { portTransport } from '../frame/portTransport.ts';
import { keepLinksInside } from './keepLinksInside.ts';
import type { TrustedSinks } from './lockDown.ts';
import { keepFocusModest } from './modestFocus.ts';
import { findOpenDoors } from './probe.ts';
import { takeRenderer, type Drawing } from './renderer.ts';
import { applyTheme } from './themeStyle.ts';

type ViewChannel = Channel<typeof viewFrame, typeof viewHost>;

/** Answers the shell over `port`, and tells it first whether this frame is closed. */
export function serveShell(port: MessagePort, sinks: TrustedSinks): void {
  let library: Promise<void> = Promise.resolve();
  let drawing: Drawing | undefined;

  const show = async (kind: 'vega-lite' | 'plotly' | 'html', text: string, theme: ViewTheme) => {
    if (kind === 'html') {
      sinks.writePage(text, () => keepFocusModest(window));
      keepLinksInside(document);
    } else {
      await library;
      applyTheme(document, theme);
      const target = document.createElement('main');
      document.body.append(target);
      drawing = await takeRenderer().draw(target, text, theme);
    }
    channel.notify('view/drawn', { heightPx: contentHeight() });
  };
  const fail = (error: unknown) =>
    channel.notify('view/failed', {
      message: errorMessage(error).slice(0, viewLimits.messageCharacters),
    });

  const channel: ViewChannel = new Channel(portTransport(port), viewHost, {
    local: viewFrame,
    requestHandlers: {
      'view/ping': () => null,
      'view/picture': async ({ format }) => {
        if (!drawing) throw new UserError('not-found', 'Nothing is drawn');
        return { base64: await drawing.picture(format) };
      },
    },
    notificationHandlers: {
      'view/library': ({ bytes }) => {
        library = sinks.runScript(bytes);
        library.catch(fail);
      },
      'view/show': ({ kind, text, theme }) => void show(kind, text, theme).catch(fail),
      'view/theme': (theme) => {
        applyTheme(document, theme);
        drawing?.setTheme(theme).catch(fail);
      },
    },
  });

  void findOpenDoors(window).then((problem) =>
    channel.notify('view/ready', { netClosed: problem === '', problem }),
  );
}

function contentHeight(): number {
  const height = Math.ceil(document.documentElement.getBoundingClientRect().height);
  return Math.min(Math.max(height, 0), viewLimits.maxHeightPx);
}

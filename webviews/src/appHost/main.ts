import { appPageHost, appPageView } from '../../../protocol/src/appHost.ts';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { connectHost } from '../ui/hostTransport.ts';
import { onThemeChange } from '../ui/viewThemeOf.ts';
import { visibleText } from '../ui/visibleText.ts';
import { words } from '../ui/words.ts';
import { AppBar } from './appBar.ts';
import { AppBridge } from './appBridge.ts';
import { appHostStyle } from './appHostStyle.ts';
import { appThemeOf } from './appThemeOf.ts';
import { AppView, type AppState } from './appView.ts';
import { CallLimits } from './callLimits.ts';
import { judgeCall } from './judgeCall.ts';

// The shell of one app. It puts no text from anywhere into its own document but as text nodes, and passes on nothing but
// calls that its own table allows.
const host = connectHost();
const channel: Channel<typeof appPageView, typeof appPageHost> = new Channel(host.transport, appPageHost, {
  local: appPageView,
  requestHandlers: {},
  notificationHandlers: {
    'appPage/chunk': ({ callId, text }) => bridge.hear(callId, text),
    'appPage/updated': () => bar.say(words.app.updated),
    'appPage/reload': () => void open(),
  },
});
const bridge = new AppBridge({
  judge: judgeCall,
  limits: new CallLimits(() => performance.now()),
  forward: (call, signal) => channel.call('appPage/call', call, { signal }),
  theme: () => appThemeOf(document),
  onRefused: (method, code) =>
    channel.notify('appPage/problem', { kind: 'refused', text: `${method}: ${code}` }),
});

const style = new CSSStyleSheet();
style.replaceSync(appHostStyle);
document.adoptedStyleSheets = [style];
const root = document.getElementById('root') ?? document.body;
const bar = new AppBar({ onReload: () => void open(), onStop: stop });
const body = document.createElement('main');
body.className = 'app-body';
root.append(bar.element, body);

let view: AppView | undefined;
/** A reload makes what an earlier one still waits for worthless. */
let round = 0;
/** The app reported an error since it was opened. */
let hasThrown = false;

async function open(): Promise<void> {
  const own = ++round;
  hasThrown = false;
  view?.dispose();
  view = undefined;
  bar.setRunning(true);
  bar.say(words.app.opening);
  const loading = channel.call('appPage/document', {});
  // Told below, unless the frame is gone by then.
  loading.catch(() => undefined);
  try {
    const { app, frameScript } = await channel.call('appPage/frame', {});
    if (own !== round) return;
    host.setState({ app });
    view = new AppView(body, {
      frameScript,
      document: loading.then(({ document: bytes }) => bytes),
      title: words.app.title(app),
      theme: () => appThemeOf(document),
      onState: (state) => {
        if (own === round) show(state);
      },
      onCall: (call, signal, hear) => bridge.answer(call, signal, hear),
      onProblem: tell,
      onLeave: () => bar.focus(),
    });
    const { name } = await loading;
    if (own === round) bar.setName(visibleText(name));
  } catch (error) {
    if (own !== round) return;
    view?.dispose();
    view = undefined;
    bar.setRunning(false);
    bar.say(errorMessage(error), true);
  }
}

/** What the app threw stands in the bar; all of it goes to the log. */
function tell(kind: 'error' | 'blocked', text: string): void {
  channel.notify('appPage/problem', { kind, text });
  if (kind !== 'error') return;
  hasThrown = true;
  bar.say(words.app.threw(visibleText(text)), true);
}

function stop(): void {
  round++;
  view?.dispose();
  view = undefined;
  bar.setRunning(false);
  bar.say(words.app.stopped);
  bar.focus();
}

function show(state: AppState): void {
  switch (state.kind) {
    case 'opening':
      return;
    case 'shown':
      if (!hasThrown) bar.say('');
      if (document.hasFocus() && document.activeElement === document.body) view?.focus();
      return;
    case 'hung':
      bar.say(words.app.hung, true);
      return;
    case 'closed': {
      const reason = words.frame.closed[state.reason];
      channel.notify('appPage/problem', { kind: 'closed', text: `${state.reason} ${state.detail}` });
      view = undefined;
      bar.setRunning(false);
      bar.say(state.detail === '' ? `${reason}.` : `${reason}: ${visibleText(state.detail)}.`, true);
    }
  }
}

onThemeChange(document, () => view?.setTheme(appThemeOf(document)));
// VS Code puts the focus on the page when its tab is chosen; the app is what a person means.
window.addEventListener('focus', () => {
  if (document.activeElement === document.body) view?.focus();
});
void open();

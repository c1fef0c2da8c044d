import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { pageHost, pageWebview } from '../../../protocol/src/webview.ts';
import { SealedFrame, type FrameState } from '../frame/sealedFrame.ts';
import { connectHost } from '../ui/hostTransport.ts';
import { onThemeChange, viewThemeOf } from '../ui/viewThemeOf.ts';
import { words } from '../ui/words.ts';
import './page.css';

// The relay of one card-owned page. It puts no text from anywhere into its own document but as text nodes, gives the
// frame nothing but the page, and answers nothing.
const channel = new Channel(connectHost().transport, pageHost, {
  local: pageWebview,
  requestHandlers: {},
  notificationHandlers: {},
});

const root = document.getElementById('root') ?? document.body;
const bar = document.createElement('div');
bar.className = 'page-bar';
bar.setAttribute('role', 'status');
const message = document.createElement('span');
const closeButton = document.createElement('button');
closeButton.textContent = words.frame.close;
const body = document.createElement('main');
body.className = 'page-body';
bar.append(message, closeButton);
root.append(bar, body);
say(words.frame.opening);

let frame: SealedFrame | undefined;
closeButton.addEventListener('click', () => {
  frame?.dispose();
  say(words.frame.closedByYou);
});

channel
  .call('page/ready', {})
  .then(({ frameScript, title, html }) => {
    frame = new SealedFrame(body, {
      frameScript,
      title: words.frame.title(title),
      kind: 'html',
      text: html,
      theme: viewThemeOf(document),
      onState: show,
    });
    onThemeChange(document, (theme) => frame?.setTheme(theme));
  })
  .catch((error: unknown) => say(words.failed(errorMessage(error))));

function show(state: FrameState): void {
  if (state.kind === 'drawn') say('');
  else if (state.kind === 'hung') say(words.frame.hung, true);
  else if (state.kind === 'failed') say(words.frame.failed(state.message));
  else if (state.kind === 'closed') {
    const reason = words.frame.closed[state.reason];
    say(state.detail === '' ? `${reason}.` : `${reason}: ${state.detail}.`);
  }
}

function say(text: string, offerClose = false): void {
  message.textContent = text;
  closeButton.hidden = !offerClose;
  bar.hidden = text === '';
}

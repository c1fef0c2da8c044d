import { useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { canvasHost, canvasView } from '../../../protocol/src/webview.ts';
import { connectHost } from '../ui/hostTransport.ts';
import { createStore } from '../ui/store.ts';
import { words } from '../ui/words.ts';
import { CanvasApp, type CanvasActions, type CanvasMode } from './canvasApp.tsx';
import { initialCanvas, reduceCanvas } from './canvasState.ts';
import './canvas.css';

const host = connectHost();
const store = createStore(initialCanvas, reduceCanvas);
const channel = new Channel(host.transport, canvasHost, {
  local: canvasView,
  requestHandlers: {},
  onBadMessage: (method) => store.send({ type: 'message', text: words.badMessage(method) }),
  notificationHandlers: {
    'canvas/project': (project) => {
      keep({ root: project.root });
      store.send({ type: 'project', project });
    },
    'canvas/delta': (delta) => store.send({ type: 'delta', ...delta }),
    'canvas/message': ({ text }) => store.send({ type: 'message', text }),
  },
});
// The extension shows its own words for what it refuses; only a lost channel is left to say here.
const ask = (answer: Promise<unknown>) =>
  void answer.catch((error: unknown) =>
    store.send({ type: 'message', text: words.failed(errorMessage(error)) }),
  );

const actions: CanvasActions = {
  runProject: () => ask(channel.call('canvas/runProject', {})),
  cancel: () => ask(channel.call('canvas/cancel', {})),
  openRun: () => ask(channel.call('canvas/openRun', {})),
  reviewPermissions: () => ask(channel.call('canvas/reviewPermissions', {}, { timeoutMs: 0 })),
  runCard: (card) => ask(channel.call('canvas/runCard', { card })),
  openCode: (card) => ask(channel.call('canvas/openCode', { card })),
  openManifest: (card) => ask(channel.call('canvas/openManifest', { card })),
  openResult: (card) => ask(channel.call('canvas/openResult', { card })),
};

function Main() {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const [initialMode] = useState(savedMode);
  return (
    <CanvasApp state={state} actions={actions} initialMode={initialMode} onMode={(mode) => keep({ mode })} />
  );
}

createRoot(document.getElementById('root') ?? document.body).render(<Main />);
ask(channel.call('canvas/ready', {}));

/** VS Code gives the state back to this page when it is shown again, and to the extension after a reload. */
function keep(part: { readonly root?: string; readonly mode?: CanvasMode }): void {
  host.setState({ ...asRecord(host.getState()), ...part });
}

function savedMode(): CanvasMode {
  return asRecord(host.getState())['mode'] === 'list' ? 'list' : 'graph';
}

function asRecord(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};
}

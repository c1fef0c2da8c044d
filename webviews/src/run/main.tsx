import { useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { Channel } from '../../../protocol/src/channel.ts';
import { errorMessage } from '../../../protocol/src/errors.ts';
import { runHost, runWebview } from '../../../protocol/src/webview.ts';
import { connectHost } from '../ui/hostTransport.ts';
import { createStore } from '../ui/store.ts';
import { words } from '../ui/words.ts';
import { RunApp } from './runApp.tsx';
import { createRunClient, type RunChannel } from './runClient.ts';
import { initialRun, reduceRun } from './runState.ts';
import './run.css';

const host = connectHost();
const store = createStore(initialRun, reduceRun);
const channel: RunChannel = new Channel(host.transport, runHost, {
  local: runWebview,
  requestHandlers: {},
  onBadMessage: (method) => store.send({ type: 'message', text: words.badMessage(method) }),
  notificationHandlers: {
    'run/state': (shown) => {
      store.send({ type: 'state', ...shown });
      keep();
    },
    'run/cards': (changed) => store.send({ type: 'cards', ...changed }),
    'run/logGrew': (grew) => store.send({ type: 'logGrew', ...grew }),
    'run/message': ({ text }) => store.send({ type: 'message', text }),
  },
});
const client = createRunClient(channel);

function Main() {
  const state = useSyncExternalStore(store.subscribe, store.get);
  return <RunApp state={state} client={client} onSelect={select} />;
}

function select(card: string): void {
  store.send({ type: 'select', card });
  keep();
}

/** VS Code gives this back to the extension after a reload: which run, which card. */
function keep(): void {
  const { run, selected } = store.get();
  if (run) host.setState({ root: run.root, runId: run.runId, selected: selected ?? null });
}

createRoot(document.getElementById('root') ?? document.body).render(<Main />);
channel
  .call('run/ready', {})
  .catch((error: unknown) => store.send({ type: 'message', text: words.failed(errorMessage(error)) }));

import { useState, useSyncExternalStore } from 'react';
import { createRoot } from 'react-dom/client';
import { connectHost } from '../ui/hostTransport.ts';
import { createStore } from '../ui/store.ts';
import { startBeat } from './beat.ts';
import { connectWorkbench } from './connectWorkbench.ts';
import { readKept } from './kept.ts';
import { WorkbenchApp } from './workbenchApp.tsx';
import { ClientContext } from './workbenchClient.ts';
import { initialWorkbench, reduceWorkbench } from './workbenchState.ts';
import './workbench.css';

const host = connectHost();
const store = createStore(initialWorkbench, reduceWorkbench);
const { client, ready, beat } = connectWorkbench(host.transport, store);

function Main() {
  const state = useSyncExternalStore(store.subscribe, store.get);
  const [initialDraft] = useState(() => readKept(host.getState()).draft);
  return (
    <ClientContext value={client}>
      <WorkbenchApp
        state={state}
        initialDraft={initialDraft}
        onDraft={(draft) =>
          host.setState({ draft, conversation: store.get().shown?.conversation?.id ?? null })
        }
        onCompose={(text) => store.send({ type: 'compose', text, mentions: [] })}
        onSaid={(text) => store.send({ type: 'message', text })}
      />
    </ClientContext>
  );
}

createRoot(document.getElementById('root') ?? document.body).render(<Main />);
startBeat(document, beat);
ready();

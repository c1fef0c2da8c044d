import { Channel, type Transport } from '../../../protocol/src/channel.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { workbenchHost, workbenchView } from '../../../protocol/src/workbench.ts';
import type { Store } from '../ui/store.ts';
import { words } from '../ui/words.ts';
import type { WorkbenchClient } from './workbenchClient.ts';
import type { WorkbenchEvent, WorkbenchState } from './workbenchState.ts';

const rowsAtOnce = 100;

/** The extension's side as functions. What comes from it goes into the store; what fails becomes a sentence there. */
export function connectWorkbench(transport: Transport, store: Store<WorkbenchState, WorkbenchEvent>) {
  const channel = new Channel(transport, workbenchHost, {
    local: workbenchView,
    requestHandlers: {},
    onBadMessage: (method) => store.send({ type: 'message', text: words.badMessage(method) }),
    notificationHandlers: {
      'workbench/state': (shown) => store.send({ type: 'state', shown }),
      'workbench/delta': (delta) => {
        store.send({ type: 'delta', ...delta });
        if (store.get().isTorn) ready();
      },
      'workbench/waiting': ({ waiting }) => store.send({ type: 'waiting', waiting }),
      'workbench/connections': ({ connections }) => store.send({ type: 'connections', connections }),
      'workbench/message': ({ text }) => store.send({ type: 'message', text }),
    },
  });
  const say = (error: unknown): void => {
    if (error instanceof UserError && error.code === 'cancelled') return;
    store.send({ type: 'message', text: words.failed(errorMessage(error)) });
  };
  const ask = (answer: Promise<unknown>): void => void answer.catch(say);
  const said = async <T>(answer: Promise<T>): Promise<T> => {
    try {
      return await answer;
    } catch (error) {
      say(error);
      throw error;
    }
  };
  const ready = (): void => ask(channel.call('workbench/ready', {}));
  const current = (): string | undefined => store.get().shown?.conversation?.id;
  const read = async (type: 'older' | 'newer', before: number): Promise<void> => {
    const id = current();
    if (id === undefined) return;
    const { items } = await channel.call('workbench/readBefore', { id, before, limit: rowsAtOnce });
    store.send({ type, id, items });
  };
  const client: WorkbenchClient = {
    act: (act, about = {}) =>
      ask(
        channel.call(
          'workbench/act',
          { act, id: about.id ?? current() ?? null, seq: about.seq ?? null, value: about.value ?? '' },
          { timeoutMs: 0 },
        ),
      ),
    send: async (message) => {
      // Without a conversation the extension makes one for the first message.
      await said(channel.call('workbench/send', { id: current() ?? '', ...message }));
    },
    stop: () => ask(channel.call('workbench/stop', { id: current() ?? '' })),
    create: () => ask(channel.call('workbench/create', {})),
    open: (id) => ask(channel.call('workbench/open', { id })),
    configure: (change) => ask(channel.call('workbench/configure', { id: current() ?? '', ...change })),
    list: async (query) => (await channel.call('workbench/list', { query })).conversations,
    suggest: async (query) => (await said(channel.call('workbench/suggest', { query }))).suggestions,
    readOlder: () => ask(read('older', store.get().shown?.items[0]?.seq ?? 0)),
    readNewer: () => ask(read('newer', (store.get().shown?.items.at(-1)?.seq ?? 0) + rowsAtOnce + 1)),
    showLatest: ready,
  };
  return { client, ready, beat: () => channel.notify('workbench/beat', {}) };
}

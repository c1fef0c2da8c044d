import assert from 'node:assert/strict';
import {
  EngineClient,
  type ConnectionEvents,
  type EngineConnection,
  type EngineState,
} from '../../../extension/src/engineClient.ts';
import { createRestartPolicy } from '../../../extension/src/restartPolicy.ts';
import { UserError } from '../../../protocol/src/errors.ts';

interface Opened {
  readonly events: ConnectionEvents;
  isDisposed: boolean;
}

function makeHarness(answer: (method: string, signal: AbortSignal) => Promise<unknown> = async () => []) {
  const opened: Opened[] = [];
  const states: EngineState[] = [];
  const waits: number[] = [];
  const warnings: string[] = [];
  const told: string[] = [];
  const box: { failures: number; now: number } = { failures: 0, now: 0 };
  const client = new EngineClient({
    open: async (events) => {
      if (box.failures-- > 0) throw new Error('did not come up');
      const mine: Opened = { events, isDisposed: false };
      opened.push(mine);
      const connection: EngineConnection = {
        request: (method, _params, signal) => answer(method, signal),
        notify: async (method) => void told.push(method),
        dispose: async () => void (mine.isDisposed = true),
      };
      return connection;
    },
    policy: createRestartPolicy(),
    log: {
      info: () => undefined,
      warn: (text) => void warnings.push(text),
      error: () => undefined,
      show: () => undefined,
    },
    now: () => box.now,
    wait: async (ms) => void waits.push(ms),
  });
  client.onDidChangeState((state) => states.push(state));
  return { client, opened, states, waits, warnings, told, box };
}

const code = (wanted: string) => (error: unknown) => error instanceof UserError && error.code === wanted;

describe('EngineClient', () => {
  it('starts nothing before the first call, and one process for many', async () => {
    const { client, opened } = makeHarness();
    client.on('project/changed', () => undefined);
    assert.equal(client.state, 'idle');
    assert.equal(opened.length, 0);
    await Promise.all([client.call('project/list', {}), client.call('project/list', {})]);
    assert.equal(opened.length, 1);
    assert.equal(client.state, 'running');
  });

  it('refuses an answer that does not fit the contract', async () => {
    const { client, warnings } = makeHarness(async () => [{ root: 1 }]);
    await assert.rejects(client.call('project/list', {}), code('bad-message'));
    assert.match(warnings.join(), /project\/list/);
  });

  it('passes the engine’s own error on', async () => {
    const { client } = makeHarness(async () => Promise.reject(new UserError('bad-project', 'a cycle')));
    await assert.rejects(client.call('run/start', { root: '/p' }), code('bad-project'));
  });

  it('gives up waiting when the caller does, and tells the engine', async () => {
    let told: AbortSignal | undefined;
    const { client } = makeHarness((_method, signal) => {
      told = signal;
      return new Promise(() => undefined);
    });
    const controller = new AbortController();
    const call = client.call('project/list', {}, controller.signal);
    await until(() => told !== undefined);
    controller.abort();
    await assert.rejects(call, code('cancelled'));
    assert.ok(told?.aborted);
  });

  it('hears events that fit, drops and logs those that do not', async () => {
    const { client, opened, warnings } = makeHarness();
    const heard: string[] = [];
    client.on('project/changed', ({ root }) => heard.push(root));
    await client.call('project/list', {});
    const { events } = opened[0]!;
    events.onNotification('project/changed', { root: '/p' });
    events.onNotification('project/changed', { root: 7 });
    events.onNotification('toString', {});
    events.onNotification('project/changed', { root: '/q', extra: true });
    assert.deepEqual(heard, ['/p']);
    assert.equal(warnings.length, 2);
  });

  it('starts again after a death, waiting longer each time, and gives up on the fourth within three minutes', async () => {
    const { client, opened, waits } = makeHarness();
    await client.call('project/list', {});
    for (let death = 0; death < 4; death++) {
      opened.at(-1)!.events.onClosed();
      if (death < 3) await until(() => client.state === 'running' && opened.length === death + 2);
    }
    assert.deepEqual(waits, [100, 200, 400]);
    assert.equal(client.state, 'gave-up');
    await assert.rejects(client.call('project/list', {}), code('closed'));
    assert.equal(opened.length, 4);
  });

  it('forgets deaths that are long ago', async () => {
    const { client, opened, box } = makeHarness();
    await client.call('project/list', {});
    for (let death = 0; death < 8; death++) {
      box.now += 2 * 60_000;
      opened.at(-1)!.events.onClosed();
      await until(() => client.state === 'running' && opened.length === death + 2);
    }
  });

  it('counts a start that fails as a death, and a person can start it again', async () => {
    const { client, box, states } = makeHarness();
    box.failures = 10;
    await assert.rejects(client.call('project/list', {}), code('closed'));
    assert.equal(client.state, 'gave-up');
    box.failures = 1;
    await client.restart();
    assert.deepEqual(await client.call('project/list', {}), []);
    assert.deepEqual(states, ['starting', 'gave-up', 'idle', 'starting', 'running']);
  });

  it('ends the process on dispose and refuses calls afterwards', async () => {
    const { client, opened } = makeHarness();
    await client.call('project/list', {});
    await client.dispose();
    assert.ok(opened[0]!.isDisposed);
    opened[0]!.events.onClosed();
    await assert.rejects(client.call('project/list', {}), code('closed'));
    assert.equal(opened.length, 1);
  });

  it('tells only a running engine', async () => {
    const { client, told } = makeHarness();
    await client.notify('trust/set', { trusted: true });
    await client.call('project/list', {});
    await client.notify('trust/set', { trusted: true });
    assert.deepEqual(told, ['trust/set']);
  });

  it('answers the engine’s questions after parsing them, and errors as plain data', async () => {
    const { client, opened } = makeHarness();
    await client.call('project/list', {});
    const ask = (method: string, params: unknown) =>
      opened[0]!.events.onRequest(method, params, new AbortController().signal);
    const refused = async (method: string, params: unknown) => {
      const answer = await ask(method, params);
      return answer.ok ? 'ok' : answer.code;
    };
    assert.equal(await refused('editor/dirty', { paths: [] }), 'not-found');
    const handled = client.handle({
      'editor/dirty': ({ paths }) => paths,
      'provider/close': () => Promise.reject(new Error('with sk-secret inside')),
    });
    assert.deepEqual(await ask('editor/dirty', { paths: ['/a'] }), { ok: true, value: ['/a'] });
    assert.equal(await refused('editor/dirty', { paths: '/a' }), 'bad-message');
    assert.equal(await refused('no/such', {}), 'not-found');
    assert.equal(await refused('constructor', {}), 'not-found');
    const internal = await ask('provider/close', { stream: 's' });
    assert.ok(!internal.ok && internal.code === 'internal' && !internal.message.includes('secret'));
    handled.dispose();
    assert.equal(await refused('editor/dirty', { paths: [] }), 'not-found');
  });
});

async function until(isSo: () => boolean): Promise<void> {
  for (let turn = 0; turn < 1000; turn++) {
    if (isSo()) return;
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.fail('the condition did not come true');
}

import assert from 'node:assert/strict';
import { createConnection } from 'node:net';
import { HostTurns, serveTurns, turnsSocket } from '../../../../remote-agent/src/worker/hostTurns.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { until } from '../../../support/until.ts';

const never = new AbortController().signal;

describe('the turns of runners that share a machine', () => {
  const folder = useTemporaryFolder();
  const opened: { close(): void }[] = [];
  afterEach(() => {
    for (const each of opened.splice(0)) each.close();
  });

  const serve = async (turns: number) => {
    const served = await serveTurns(folder(), turns);
    opened.push(served);
    return served;
  };
  const runner = (places = 8) => {
    const turns = new HostTurns(turnsSocket(folder()), places);
    opened.push(turns);
    return turns;
  };
  /** Asks so many times; the ways out of what was given, as it comes. */
  const enter = (turns: HostTurns, count: number, signal = never) => {
    const given: (() => void)[] = [];
    for (let at = 0; at < count; at += 1)
      turns.enter(signal).then(
        (leave) => given.push(leave),
        () => undefined,
      );
    return given;
  };

  it('[WORKER-07] are shared out between two of them, and come back with each end', async () => {
    await serve(3);
    const [flood, modest] = [runner(), runner()];
    const flooding = enter(flood, 8);
    await until(() => flooding.length === 3);
    const asking = enter(modest, 4);
    await until(() => asking.length === 1);
    flooding.pop()?.();
    flooding.pop()?.();
    // Both hold one; the flood has waited longer for its next.
    await until(() => flooding.length === 2);
    flooding.pop()?.();
    await until(() => asking.length === 2);
    assert.equal(flooding.length, 1);
  });

  it('[WORKER-07] come back from a runner that is killed', async () => {
    await serve(2);
    const [killed, next] = [runner(), runner()];
    const first = enter(killed, 2);
    await until(() => first.length === 2);
    const second = enter(next, 2);
    await until(() => second.length === 1);
    killed.close();
    await until(() => second.length === 2);
  });

  it('one that comes for a job that was cancelled meanwhile goes to the next', async () => {
    await serve(1);
    const [one, other] = [runner(), runner()];
    const first = enter(one, 1);
    await until(() => first.length === 1);
    const stop = new AbortController();
    const cancelled = one.enter(stop.signal);
    const third = enter(one, 1);
    stop.abort();
    await assert.rejects(cancelled);
    first.pop()?.();
    await until(() => third.length === 1);
    const last = enter(other, 1);
    await until(() => last.length === 1);
  });

  it('without the worker a runner’s own places count, and what it holds is told to the next worker', async () => {
    const served = await serve(4);
    const turns = runner(2);
    const first = enter(turns, 1);
    await until(() => first.length === 1);
    served.close();
    const alone = enter(turns, 2);
    await until(() => alone.length === 1);
    await serve(4);
    // With its next job the runner connects, and says that it holds another one.
    first.pop()?.();
    await until(() => alone.length === 2);
    const other = enter(runner(), 8);
    await until(() => other.length === 2);
    const third = enter(runner(), 1);
    await until(() => third.length === 1);
    assert.equal(other.length, 2);
  });

  it('one worker alone shares a folder’s turns out', async () => {
    await serve(1);
    await assert.rejects(serveTurns(folder(), 1), /serves here already/);
  });

  it('who does not speak like a runner is let go', async () => {
    await serve(1);
    const socket = createConnection(turnsSocket(folder()));
    socket.write('hold -1\n');
    await new Promise((resolve) => socket.on('error', () => undefined).once('close', resolve));
    const turns = enter(runner(), 1);
    await until(() => turns.length === 1);
  });
});

import assert from 'node:assert/strict';
import { LogPump } from '../../../sandbox-worker/src/logPump.ts';

describe('logPump', () => {
  let clock = 0;
  let sent: [string, string][] = [];
  const create = (): LogPump => {
    clock = 0;
    sent = [];
    return new LogPump({
      send: (stream, text) => sent.push([stream, text]),
      now: () => clock,
      chunkLength: 100,
    });
  };

  it('[QJS-07] sends at once while there is little, so that a killed card has its last lines out', () => {
    const pump = create();
    pump.write('stdout', 'a\n');
    pump.write('stdout', 'b\n');
    assert.deepEqual(sent, [
      ['stdout', 'a\n'],
      ['stdout', 'b\n'],
    ]);
  });

  it('[QJS-07] puts a flood together', () => {
    const pump = create();
    for (let line = 0; line < 1000; line++) pump.write('stdout', 'x\n');
    pump.flush();
    assert.ok(sent.length < 50, `${sent.length} messages`);
    assert.equal(sent.map(([, text]) => text).join(''), 'x\n'.repeat(1000));
  });

  it('[QJS-07] sends what is held when its time comes', () => {
    const pump = create();
    for (let line = 0; line < 30; line++) pump.write('stdout', 'x\n');
    const before = sent.length;
    pump.tick();
    assert.equal(sent.length, before);
    clock += 50;
    pump.tick();
    assert.equal(sent.length, before + 1);
    pump.tick();
    pump.flush();
    assert.equal(sent.length, before + 1, 'nothing is sent twice or empty');
  });

  it('keeps the order of the two streams and splits what is long', () => {
    const pump = create();
    pump.write('stdout', 'a');
    pump.write('stderr', 'b'.repeat(250));
    pump.write('stdout', 'c');
    pump.flush();
    assert.deepEqual(
      sent.map(([stream, text]) => `${stream} ${text.length}`),
      ['stdout 1', 'stderr 100', 'stderr 100', 'stderr 50', 'stdout 1'],
    );
  });
});

import assert from 'node:assert/strict';
import { duplexPair, type Duplex } from 'node:stream';
import { LentPort } from '../../../../language-server/src/runners/vm/lentPort.ts';

describe('a port that is lent', () => {
  it('is opened for nobody once it is closed: what was being opened would keep the next one out', async () => {
    const opening = Promise.withResolvers<Duplex>();
    const asked = Promise.withResolvers<undefined>();
    const port = new LentPort(() => {
      asked.resolve(undefined);
      return opening.promise;
    });
    const [lent, next] = [port.lend(), port.lend()];
    await asked.promise;
    port.close();
    const [stream] = duplexPair();
    opening.resolve(stream);
    for (const each of [lent, next]) await assert.rejects(each, { code: 'closed' });
    assert.equal(stream.destroyed, true);
  });
});

import assert from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { remoteTimes } from '../../../../language-server/src/runners/places/remoteRunner.ts';
import type {
  RunnerLink,
  RunnerTransport,
} from '../../../../language-server/src/runners/places/runnerTransport.ts';
import { Channel } from '../../../../protocol/src/channel.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { IsolationReport } from '../../../../protocol/src/runner.ts';
import { servedEvents, servedProtocolVersion, servedSide } from '../../../../protocol/src/servedRunner.ts';
import { openPlace } from '../../../support/remotePlace.ts';
import { useTemporaryFolder } from '../../../support/temporaryFolder.ts';
import { transportPair } from '../../../support/transportPair.ts';
import { until } from '../../../support/until.ts';

const key = Buffer.alloc(32, 1).toString('base64');
const isolation: IsolationReport = { kind: 'bubblewrap', version: '1', checks: [], limits: 'cgroup' };
const hostKey = Buffer.alloc(32, 2).toString('base64');

describe('a terminal at a place', () => {
  const folder = useTemporaryFolder();

  function make({ hasTerminal = true, idleMs = 50 } = {}) {
    const offered: string[] = [];
    const streams: PassThrough[] = [];
    let isClosed = false;
    let beats = 0;
    const transport: RunnerTransport = {
      place: 'vm',
      dispose: () => Promise.resolve(),
      open: () => {
        const [here, there] = transportPair();
        isClosed = false;
        const none = () => Promise.reject(new UserError('internal', 'not asked here'));
        new Channel(there, servedEvents, {
          local: servedSide,
          requestHandlers: {
            'runner/greet': () => ({
              protocol: servedProtocolVersion,
              version: '1',
              instance: 'a',
              platform: 'linux',
              node: 'v24.0.0',
              isolation,
              interpreters: [],
              parallel: 1,
              freeBytes: 1,
            }),
            'lease/renew': () => {
              beats += 1;
              return { leaseMs: 1 };
            },
            'terminal/offer': ({ clientKey }) => {
              offered.push(clientKey);
              return { hostKey };
            },
            'journal/list': () => [],
            'runner/probe': none,
            'blob/missing': none,
            'job/submit': none,
            'job/attach': none,
            'job/cancel': none,
            'job/forget': none,
            'blob/clean': none,
          },
          notificationHandlers: {},
        });
        const link: RunnerLink = {
          control: here,
          openBulk: none,
          ...(hasTerminal && {
            openTerminal: () => {
              const stream = new PassThrough();
              streams.push(stream);
              return Promise.resolve(stream);
            },
          }),
          close: () => {
            isClosed = true;
          },
        };
        return Promise.resolve(link);
      },
    };
    const blobs = join(folder(), 'blobs');
    mkdirSync(blobs);
    const place = openPlace(transport, blobs, { times: { ...remoteTimes, idleMs, heartbeatMs: 2000 } });
    return { place, offered, streams, isClosed: () => isClosed, beats: () => beats };
  }

  it('[VM-24] keeps the place in use until it is closed', async () => {
    const { place, offered, isClosed, beats } = make();
    const way = await place.runner.openTerminal?.(key);
    assert.deepEqual([way?.hostKey, offered], [hostKey, [key]]);
    // Longer than it would be kept without.
    await until(() => beats() >= 1);
    assert.equal(isClosed(), false);
    way?.stream.destroy();
    await until(isClosed);
    await place.runner.dispose();
  });

  it('is refused where the way leads to none, which then does not count as use', async () => {
    const { place, isClosed } = make({ hasTerminal: false });
    await assert.rejects(async () => place.runner.openTerminal?.(key), { code: 'not-found' });
    await until(isClosed);
    await place.runner.dispose();
  });
});

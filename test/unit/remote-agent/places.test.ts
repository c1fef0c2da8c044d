import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readlinkSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { createDeferred } from '../../../remote-agent/src/deferred.ts';
import type { PreparedSandbox } from '../../../remote-agent/src/isolation/bubblewrapSandboxes.ts';
import { holdNamespaces } from '../../../remote-agent/src/isolation/heldNamespaces.ts';
import type { ProgramEnd } from '../../../remote-agent/src/isolation/sandbox.ts';
import { Places } from '../../../remote-agent/src/places.ts';
import { createRunnerFolder } from '../../../remote-agent/src/runnerFolder.ts';
import { makeStageFolders } from '../../../remote-agent/src/stage.ts';
import { jobWith } from '../../support/jobs.ts';

/** The namespaces that this process holds open, one entry for each descriptor. */
function held(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${descriptor}`);
      return /^[a-z]+:\[[0-9]+\]$/.test(target) && !/^(socket|pipe):/.test(target) ? [target] : [];
    } catch {
      return [];
    }
  });
}

describe('what is kept of a sandbox until nobody waits', () => {
  before(function () {
    if (process.platform === 'linux') return;
    console.log('      namespaces are Linux’s');
    this.skip();
  });

  let scratch: string;
  let ofOne: string[];
  beforeEach(() => {
    scratch = mkdtempSync(join(tmpdir(), 'sallyport-places-'));
    ofOne = ['net', 'mnt', 'ipc'].map((kind) => readlinkSync(`/proc/self/ns/${kind}`)).sort();
  });
  afterEach(() => rmSync(scratch, { recursive: true, force: true }));

  const openPlaces = (standbyCount: number) => {
    const ends: string[] = [];
    const places = new Places({
      isolation: {
        kind: 'bubblewrap',
        open: (_request, path): Promise<PreparedSandbox> => {
          const staged = makeStageFolders(path);
          const ended = createDeferred<ProgramEnd>();
          const sandbox = {
            // This process stands for the first one inside.
            first: { pid: process.pid, startTicks: '' },
            ended: ended.promise,
            end: () => {
              ends.push(held().join(' '));
              ended.resolve({ kind: 'lost', said: '' });
              return Promise.resolve();
            },
          } as unknown as PreparedSandbox['sandbox'];
          return Promise.resolve({ sandbox, staged, owner: undefined, cardFolder: '/card', environment: {} });
        },
      },
      folder: createRunnerFolder({ scratch, pid: process.pid }),
      cgroup: undefined,
      standbyCount,
      privateFolders: [],
      nodePath: undefined,
      onEgress: () => undefined,
      onProblem: (doing, error) => assert.fail(`${doing}: ${String(error)}`),
    });
    return { places, ends };
  };

  const settled = async (count: number) => {
    for (let left = 6000; held().length !== count && left > 0; left--) await pause(10);
    assert.equal(held().length, count);
  };

  it('[VM-35] is held while the sandbox ends, and let go of after the job', async () => {
    const { places, ends } = openPlaces(0);
    const place = await places.open(jobWith({}));
    assert.deepEqual(held().sort(), ofOne);
    await place.end();
    assert.deepEqual(ends[0]?.split(' ').sort(), ofOne);
    assert.deepEqual(held().sort(), ofOne);
    place.release();
    await settled(0);
    await places.dispose();
  });

  it('[VM-35] is let go of with every sandbox that stands by', async () => {
    const { places } = openPlaces(2);
    await places.fill();
    assert.equal(held().length, 2 * ofOne.length);
    await places.retire();
    assert.deepEqual(held(), []);
    await places.dispose();
  });

  it('[VM-35] is let go of at the end of the runner, whoever still waits', async () => {
    const { places } = openPlaces(1);
    const place = await places.open(jobWith({}));
    await place.end();
    place.release();
    await places.dispose();
    assert.deepEqual(held(), []);
  });

  it('is nothing of a process that is not there', () => {
    const letGo = holdNamespaces(2 ** 30);
    assert.deepEqual(held(), []);
    letGo();
    letGo();
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createWorkerTransport } from '../../language-server/src/runners/worker/workerTransport.ts';
import { newIdentity, WorkerRig } from '../support/workerRig.ts';
import { limitRow, median, type BenchRow } from './benchRow.ts';

const rounds = 60;

/** A connection to a worker from nothing to the line that says who is let in: both sides in one process here. */
export async function remoteWorkerBench(): Promise<BenchRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-worker-'));
  const rig = new WorkerRig(folder);
  const signer = newIdentity();
  rig.admit(signer);
  await rig.start();
  try {
    const transport = createWorkerTransport({
      place: 'worker:bench',
      worker: rig.pinned,
      signer,
      now: () => Date.now(),
    });
    const times: number[] = [];
    for (let round = 0; round < rounds; round += 1) {
      const startedAt = performance.now();
      const link = await transport.open({
        signal: new AbortController().signal,
        mayAsk: false,
        onStep: () => undefined,
      });
      times.push(performance.now() - startedAt);
      link.close();
    }
    return [
      limitRow(
        {
          group: 'remote',
          name: 'a connection to a worker, both identities checked',
          unit: 'ms',
          ours: median(times),
        },
        10,
      ),
    ];
  } finally {
    await rig.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

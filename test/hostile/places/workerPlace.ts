import { join } from 'node:path';
import { remoteTimes } from '../../../language-server/src/runners/places/remoteRunner.ts';
import { createWorkerTransport } from '../../../language-server/src/runners/worker/workerTransport.ts';
import { damagedBlobs } from '../../support/blobs.ts';
import { openPlace } from '../../support/remotePlace.ts';
import { WorkerHost } from '../../support/workerHost.ts';
import { newIdentity } from '../../support/workerRig.ts';
import {
  clientOf,
  leaveSecret,
  secretPath,
  secretVariable,
  servedLures,
  Unchanged,
  withoutTerminal,
  type HostilePlace,
  type OpenHostilePlace,
} from './hostilePlace.ts';

/** A real worker; attacked are its keys and list, and what runners of other members keep. */
export const workerPlace: HostilePlace = {
  name: 'worker',
  ownKernel: false,
  fault: () => undefined,
  leftOut: withoutTerminal,
  open: openWorkerPlace,
};

function openWorkerPlace(folder: string): OpenHostilePlace {
  const worker = new WorkerHost(folder);
  const signer = newIdentity();
  const home = worker.homeOf(signer);
  const at = (name: string) => join(worker.home, name);
  const keys = [at('identity'), at('authorized_keys')];
  const kept = new Unchanged(() => keys);
  return {
    async connect(engine, canary) {
      await worker.start({ [secretVariable]: 'there' });
      const pinned = await worker.enrol(signer, 'someone');
      // Another member, with a runner and results of their own.
      const other = newIdentity();
      const transportOf = (who: typeof signer) =>
        createWorkerTransport({ place: 'worker:lab', worker: pinned, signer: who, now: () => Date.now() });
      await worker.enrol(other, 'someone else');
      const theirs = openPlace(transportOf(other), engine.blobs, { times: remoteTimes });
      await leaveSecret(theirs, engine, canary);
      await theirs.runner.dispose();
      const place = openPlace(transportOf(signer), engine.blobs, { times: remoteTimes });
      const client = await clientOf(place, engine, canary, () => worker.runnerPids(signer));
      kept.remember();
      return client;
    },
    lures: (engine) => ({
      ...servedLures(home, secretPath(engine)),
      placeFolder: worker.home,
      placeJournal: at('members/*/journal'),
      placeLogs: [at('audit.log'), at('audit/*'), at('members/*/events/*')].join(':'),
      placeSockets: at('members/*/runner.sock'),
      placeKeys: keys.join(':'),
      placePort: String(worker.port),
    }),
    damage: async () => [...kept.changes(), ...(await damagedBlobs(join(home, 'blobs')))],
    close: () => worker.remove(),
  };
}

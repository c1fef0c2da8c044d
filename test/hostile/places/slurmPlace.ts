import { globSync } from 'node:fs';
import { join } from 'node:path';
import { damagedBlobs } from '../../support/blobs.ts';
import { hasSlurm } from '../../support/slurmCluster.ts';
import { SlurmRig } from '../../support/slurmRig.ts';
import { hasSshd } from '../../support/sshPlace.ts';
import { until } from '../../support/until.ts';
import {
  clientOf,
  leaveSecret,
  secretPath,
  secretVariable,
  Unchanged,
  withoutTerminal,
  type HostilePlace,
  type OpenHostilePlace,
} from './hostilePlace.ts';

/** A real cluster of one node; attacked are the shared folder, and the keys and the socket by which jobs are sent. */
export const slurmPlace: HostilePlace = {
  name: 'slurm',
  ownKernel: false,
  fault: () =>
    hasSlurm && hasSshd
      ? undefined
      : 'There is no Slurm or no sshd here: install slurm-wlm, munge and openssh-server',
  leftOut: withoutTerminal,
  open: openSlurmPlace,
};

function openSlurmPlace(): OpenHostilePlace {
  const rig = new SlurmRig({ login: { [secretVariable]: 'there' } });
  const shared = join(rig.host.home, '.sallyport', 'slurm');
  const { folder } = rig.cluster;
  const keys = [join(folder, 'munge.key'), rig.cluster.configuration, rig.host.userKey];
  const kept = new Unchanged(() => keys);
  let leaveAgain = async (): Promise<void> => undefined;
  return {
    async connect(engine, canary) {
      await rig.start();
      const place = rig.open({ blobs: engine.blobs });
      // What runs a card is there for that card alone, on the node; what the engine speaks to is no runner.
      const client = await clientOf(place, engine, canary);
      leaveAgain = () => leaveSecret(place, engine, canary);
      kept.remember();
      return client;
    },
    lures: (engine) => ({
      engineDatabase: globSync(join(shared, 'submits', '*.jobs'))[0] ?? '',
      secretBlob: join(shared, 'blobs', secretPath(engine)),
      scratch: join(shared, 'runs'),
      unixSocket: join(folder, 'munge', 'socket'),
      placeFolder: shared,
      placeJournal: join(shared, 'submits', '*.jobs'),
      placeLogs: join(shared, 'runs', '*.events'),
      placeSockets: join(folder, 'munge', 'socket'),
      placeKeys: keys.join(':'),
      placeDevices: '',
      placePort: String(rig.host.port),
    }),
    leaveAgain: () => leaveAgain(),
    damage: async () => {
      await until(async () => (await rig.cluster.run('squeue', '--noheader')).trim() === '');
      return [...kept.changes(), ...(await damagedBlobs(join(shared, 'blobs')))];
    },
    close: () => rig.remove(),
  };
}

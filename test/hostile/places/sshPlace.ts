import { join } from 'node:path';
import { remoteTimes } from '../../../language-server/src/runners/places/remoteRunner.ts';
import { damagedBlobs } from '../../support/blobs.ts';
import { openPlace } from '../../support/remotePlace.ts';
import { removeHost, SshHost } from '../../support/sshHost.ts';
import { hasSshd, sshParts } from '../../support/sshPlace.ts';
import {
  clientOf,
  secretPath,
  secretVariable,
  servedLures,
  Unchanged,
  withoutTerminal,
  type HostilePlace,
  type OpenHostilePlace,
} from './hostilePlace.ts';

/** A real sshd on loopback; attacked are its keys and what its runner keeps. */
export const sshPlace: HostilePlace = {
  name: 'ssh',
  ownKernel: false,
  fault: () => (hasSshd ? undefined : 'There is no sshd here: install openssh-server'),
  leftOut: withoutTerminal,
  open: openSshPlace,
};

function openSshPlace(folder: string): OpenHostilePlace {
  const hostFolder = join(folder, 'host');
  const login = join(hostFolder, 'home');
  const host = new SshHost({
    folder: hostFolder,
    settings: [`SetEnv HOME=${login} ${secretVariable}=there`],
  });
  const home = join(login, '.sallyport', 'runner');
  const kept = new Unchanged(() => [host.userKey, host.hostKey('ed25519')]);
  return {
    async connect(engine, canary) {
      await host.start();
      const parts = sshParts({
        folder: join(folder, 'here'),
        config: host.configBlock('lab'),
        known: host.knownLine(),
      });
      const place = openPlace(parts.transport('lab'), engine.blobs, { times: remoteTimes });
      const client = await clientOf(place, engine, canary, () => host.runnerPids());
      kept.remember();
      return client;
    },
    lures: (engine) => ({
      ...servedLures(home, secretPath(engine)),
      placeKeys: [host.userKey, host.hostKey('ed25519')].join(':'),
      placePort: String(host.port),
    }),
    damage: async () => [...kept.changes(), ...(await damagedBlobs(join(home, 'blobs')))],
    close: () => removeHost(host),
  };
}

import assert from 'node:assert/strict';
import { putTree } from '../../support/blobs.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { jobWith } from '../../support/jobs.ts';
import type { CardClient } from '../../support/runnerClient.ts';
import { builtVmHome, openTestVms, vmFault } from '../../support/vm.ts';
import type { LureValues } from '../cards/lures.ts';
import {
  clientOf,
  secretPath,
  servedLures,
  withoutTerminal,
  type HostilePlace,
  type OpenHostilePlace,
} from './hostilePlace.ts';

/** A real VM; attacked is what its guest keeps, under the names that it has there. */
export const vmPlace: HostilePlace = {
  name: 'vm',
  ownKernel: true,
  fault: vmFault,
  leftOut: (attack) =>
    attack.hostFolders
      ? 'each set of folders is a VM of its own; vmFolders.test.ts attacks those'
      : withoutTerminal(attack),
  open: openVmPlace,
};

/** What a VM keeps is in the VM: its names are those that the guest gives (`guest/guestCommand.ts`). */
const guestHome = '/var/lib/sallyport';

/** What there is to find in a VM; `secretBlob` is a path below the blobs of its runner. */
export function vmLures(secretBlob: string): LureValues {
  return {
    ...servedLures(guestHome, secretBlob),
    // Whatever leads out of the sandbox leads to files of the guest.
    sshKey: `${guestHome}/journal`,
    hostName: '(none)',
    // QEMU's name for this machine, in a VM that has a network.
    machineAddress: '10.0.2.2',
    listenerAddress: '10.0.2.2',
    placeKeys: '',
    placeDevices: ['/dev/vport*', '/dev/vd*', '/dev/ttyS0', '/dev/port', '/proc/sysrq-trigger'].join(':'),
    placePort: '1',
  };
}

function openVmPlace(): OpenHostilePlace {
  let vms: ReturnType<typeof openTestVms> | undefined;
  let client: CardClient | undefined;
  let before = { threads: 0, availableMB: 0 };
  const load = async () => {
    assert.ok(client && vms);
    const code = await putTree(vms.blobs.folder, {
      'main.sh': 'cut -d/ -f2 /proc/loadavg; grep MemAvailable /proc/meminfo',
    });
    const { stdout } = await client.run(jobWith({ jobId: `load-${performance.now().toFixed(0)}`, code }));
    const [, threads = '', kilobytes = ''] = /^([0-9]+) [^]*MemAvailable: +([0-9]+)/.exec(stdout) ?? [];
    assert.ok(threads && kilobytes, stdout);
    return { threads: Number(threads), availableMB: Number(kilobytes) / 1024 };
  };
  return {
    async connect(engine, canary) {
      const runner = bundledRunner();
      vms = openTestVms(await builtVmHome(runner), runner, engine.blobs);
      const place = { ...vms, runner: vms.place, views: [] };
      client = await clientOf(place, engine, canary);
      before = await load();
      return client;
    },
    lures: (engine) => vmLures(secretPath(engine)),
    damage: async () => {
      // Numbers of the whole VM, which a card can read: nothing of the cards runs on, and their memory came back.
      let now = await load();
      const isAsBefore = () =>
        now.threads <= before.threads + 8 && now.availableMB >= before.availableMB - 200;
      for (let look = 0; look < 20 && !isAsBefore(); look += 1) now = await load();
      return isAsBefore()
        ? []
        : [`The VM began with ${JSON.stringify(before)} and has ${JSON.stringify(now)}`];
    },
    close: async () => vms?.place.dispose(),
  };
}

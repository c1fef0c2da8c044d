import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { remoteTimes } from '../../../language-server/src/runners/places/remoteRunner.ts';
import { createWorkerTransport } from '../../../language-server/src/runners/worker/workerTransport.ts';
import { blobPath } from '../../../protocol/src/runner.ts';
import { damagedBlobs, putBlob, putTree } from '../../support/blobs.ts';
import { bundledRunner } from '../../support/bundledRunner.ts';
import { jobWith } from '../../support/jobs.ts';
import { PlaceClient } from '../../support/placeClient.ts';
import { Heard, openPlace, type TestPlace } from '../../support/remotePlace.ts';
import type { CardClient } from '../../support/runnerClient.ts';
import { hasSlurm } from '../../support/slurmCluster.ts';
import { SlurmRig } from '../../support/slurmRig.ts';
import { removeHost, SshHost } from '../../support/sshHost.ts';
import { hasSshd, sshParts } from '../../support/sshPlace.ts';
import { until } from '../../support/until.ts';
import { builtVmHome, openTestVms, vmFault } from '../../support/vm.ts';
import { WorkerHost } from '../../support/workerHost.ts';
import { newIdentity } from '../../support/workerRig.ts';
import type { Attack } from '../cards/attack.ts';
import type { EnginePlaces, LureValues } from '../cards/lures.ts';
import type { RangePlace } from '../cards/range.ts';

/** A place elsewhere that cards attack. */
export interface HostilePlace {
  readonly name: string;
  /** False where its cards run on the kernel of this machine. */
  readonly ownKernel: boolean;
  /** Why there is none here. */
  readonly fault: () => string | undefined;
  /** Why an attack would show nothing there; undefined for all that are run. */
  readonly leftOut: (attack: Attack) => string | undefined;
  /** Starts it in an empty folder, to be kept for all attacks. */
  readonly open: (folder: string) => OpenHostilePlace;
}

export interface OpenHostilePlace extends RangePlace {
  /** What cards have damaged or left, in words. Asked when all have ended. */
  damage(): Promise<string[]>;
  close(): Promise<void>;
}

/** A variable that whatever starts runners over there has, and that no card may get. */
const secretVariable = 'SALLYPORT_TEST_SECRET';

/** One real place of each kind. */
export const hostilePlaces: readonly HostilePlace[] = [
  {
    name: 'ssh',
    ownKernel: false,
    fault: () => (hasSshd ? undefined : 'There is no sshd here: install openssh-server'),
    leftOut: withoutTerminal,
    open: openSshPlace,
  },
  {
    name: 'worker',
    ownKernel: false,
    fault: () => undefined,
    leftOut: withoutTerminal,
    open: openWorkerPlace,
  },
  {
    name: 'slurm',
    ownKernel: false,
    fault: () =>
      hasSlurm && hasSshd
        ? undefined
        : 'There is no Slurm or no sshd here: install slurm-wlm, munge and openssh-server',
    leftOut: withoutTerminal,
    open: openSlurmPlace,
  },
  {
    name: 'vm',
    ownKernel: true,
    fault: vmFault,
    leftOut: (attack) =>
      attack.hostFolders
        ? 'each set of folders is a VM of its own; vmFolders.test.ts attacks those'
        : withoutTerminal(attack),
    open: openVmPlace,
  },
];

/** The attack types into the terminal of a runner that has one. */
function withoutTerminal(attack: Attack): string | undefined {
  return attack.terminal ? 'no runner elsewhere has a terminal' : undefined;
}

/** What a served runner keeps, by the names of `runnerHome.ts`. */
function servedLures(home: string, secretBlob: string): LureValues {
  const journal = join(home, 'journal');
  return {
    engineDatabase: journal,
    secretBlob: join(home, 'blobs', secretBlob),
    scratch: join(home, 'scratch'),
    unixSocket: join(home, 'runner.sock'),
    placeFolder: home,
    placeJournal: journal,
    placeLogs: join(home, 'events', '*'),
    placeSockets: join(home, 'runner.sock'),
    placeDevices: '',
  };
}

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
      placeLogs: [at('audit.log'), at('members/*/events/*')].join(':'),
      placeSockets: at('members/*/runner.sock'),
      placeKeys: keys.join(':'),
      placePort: String(worker.port),
    }),
    damage: async () => [...kept.changes(), ...(await damagedBlobs(join(home, 'blobs')))],
    close: () => worker.remove(),
  };
}

function openSlurmPlace(): OpenHostilePlace {
  const rig = new SlurmRig({ login: { [secretVariable]: 'there' } });
  const shared = join(rig.host.home, '.sallyport', 'slurm');
  const { folder } = rig.cluster;
  const keys = [join(folder, 'munge.key'), rig.cluster.configuration, rig.host.userKey];
  const kept = new Unchanged(() => keys);
  return {
    async connect(engine, canary) {
      await rig.start();
      const place = rig.open({ blobs: engine.blobs });
      // What runs a card is there for that card alone, on the node; what the engine speaks to is no runner.
      const client = await clientOf(place, engine, canary);
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
    damage: async () => {
      await until(async () => (await rig.cluster.run('squeue', '--noheader')).trim() === '', 30_000);
      return [...kept.changes(), ...(await damagedBlobs(join(shared, 'blobs')))];
    },
    close: () => rig.remove(),
  };
}

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

/** Leaves the secret there, and gives a client of the runner. */
async function clientOf(
  place: TestPlace,
  engine: EnginePlaces,
  canary: string,
  runnerPids: () => readonly number[] = () => [],
): Promise<CardClient> {
  await leaveSecret(place, engine, canary);
  const hello = await place.runner.ready();
  assert.equal(hello.isolation.kind, 'bubblewrap');
  const [pid] = runnerPids();
  return new PlaceClient(place, hello, pid ?? 0, () => pid === undefined || runnerPids().includes(pid));
}

/** A card whose parameters, input, log and output are the secret, and which nobody has fetched for good. */
async function leaveSecret(place: TestPlace, engine: EnginePlaces, canary: string): Promise<void> {
  const code = await putTree(place.blobs.folder, {
    'main.sh': 'cat "$SALLYPORT_INPUTS/in"; cp "$SALLYPORT_INPUTS/in" "$SALLYPORT_OUTPUTS/out"',
  });
  const artifact = await putBlob(place.blobs.folder, readFileSync(engine.secretBlob));
  const heard = new Heard();
  const { outcome } = await place.runner.run(
    jobWith({
      jobId: `card-of-somebody-${randomBytes(6).toString('hex')}`,
      code,
      params: JSON.stringify({ canary }),
      inputs: [{ port: 'in', type: 'text', artifact }],
      outputs: [{ port: 'out', type: 'text', optional: false }],
    }),
    heard,
    new AbortController().signal,
  );
  assert.deepEqual(outcome, { kind: 'exited', exitCode: 0 }, heard.stderr);
  assert.ok(heard.stdout.includes(canary));
}

function secretPath({ secretBlob }: EnginePlaces): string {
  return blobPath(createHash('sha256').update(readFileSync(secretBlob)).digest('hex'));
}

/** Files that no card may change. */
class Unchanged {
  readonly #paths: () => readonly string[];
  readonly #before = new Map<string, string>();

  constructor(paths: () => readonly string[]) {
    this.#paths = paths;
  }

  remember(): void {
    for (const path of this.#paths()) this.#before.set(path, textOf(path));
  }

  changes(): string[] {
    return [...this.#before].flatMap(([path, text]) =>
      textOf(path) === text ? [] : [`${path} was changed`],
    );
  }
}

function textOf(path: string): string {
  return existsSync(path) ? readFileSync(path, 'latin1') : '';
}

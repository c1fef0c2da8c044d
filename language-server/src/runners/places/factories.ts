import { join } from 'node:path';
import type { PlaceView } from '../../../../protocol/src/places.ts';
import type { IdentitySigner } from '../../../../remote-agent/src/worker/leaf.ts';
import { KnownWorkers } from '../worker/knownWorkers.ts';
import { openVmPlace } from '../vm/openVmPlace.ts';
import type { PlaceRegistryOptions } from './placeRegistry.ts';
import type { PlaceRunner } from './placeRunner.ts';
import type { RunnerLink, RunnerTransport } from './runnerTransport.ts';
import type { OpenSshTransportOptions } from '../ssh/openSshTransport.ts';
import type { SshSurroundings } from '../ssh/sshConfig.ts';
import type { SshPerson } from '../ssh/sshPerson.ts';
import { askSshPerson, type AskPerson } from './askSshPerson.ts';
import { sshSurroundings } from '../../environment.ts';

export interface PlaceSurroundings {
  /** The folder of Sallyport's state. */
  readonly home: string;
  /** The folder of the built programs. */
  readonly programs: string;
  readonly person: AskPerson;
  /** The identity by which workers know this computer. */
  readonly identity: () => Promise<IdentitySigner>;
  /**
   * Makes the runner of a served runner's transport. Its jobs are remembered under `key`, else under the place's id, and
   * where it would tell how things stand with it, it tells what `shown` makes of that.
   */
  readonly remote: (
    transport: RunnerTransport,
    key?: string,
    shown?: (own: PlaceView) => PlaceView,
  ) => PlaceRunner;
  readonly onProblem: (problem: string) => void;
  /** What OpenSSH makes of the person's files; tests put their own in its place. */
  readonly ssh?: SshSurroundings;
}

/** What makes the runner of each kind of place. Programs of a kind are read when a place of it is first connected to. */
export function placeFactories(around: PlaceSurroundings): PlaceRegistryOptions['factories'] {
  return {
    vm: () =>
      openVmPlace({
        home: around.home,
        runner: join(around.programs, 'remote-agent.cjs'),
        now: () => Date.now(),
        onProblem: around.onProblem,
        remote: around.remote,
      }),
    worker: (id, { name }) => around.remote(lateTransport(id, () => workerTransport(around, id, name))),
    ssh: (id, { name }) => around.remote(lateTransport(id, () => sshTransport(around, id, name))),
    slurm: (id, { name }) => around.remote(lateTransport(id, () => slurmTransport(around, id, name))),
  };
}

async function workerTransport(
  around: PlaceSurroundings,
  place: string,
  name: string,
): Promise<RunnerTransport> {
  const { createWorkerTransport } = await import('../worker/workerTransport.ts');
  const worker = new KnownWorkers(around.home, process.getuid?.() ?? -1).get(name);
  return createWorkerTransport({ place, worker, signer: await around.identity(), now: () => Date.now() });
}

async function sshTransport(
  around: PlaceSurroundings,
  place: string,
  host: string,
): Promise<RunnerTransport> {
  const { openSshTransport } = await import('../ssh/openSshTransport.ts');
  return openSshTransport(sshOptions(around, place, host));
}

async function slurmTransport(
  around: PlaceSurroundings,
  place: string,
  host: string,
): Promise<RunnerTransport> {
  const { openSlurmTransport } = await import('../slurm/openSlurmTransport.ts');
  return openSlurmTransport(sshOptions(around, place, host), around.person);
}

function sshOptions(around: PlaceSurroundings, place: string, host: string): OpenSshTransportOptions {
  const person: SshPerson = askSshPerson(around.person, place);
  return {
    place,
    host,
    person,
    trustFile: join(around.home, 'known_hosts'),
    around: around.ssh ?? sshSurroundings(),
    program: join(around.programs, 'remote-agent.cjs'),
  };
}

/** A transport whose code is read at its first opening. */
function lateTransport(place: string, load: () => Promise<RunnerTransport>): RunnerTransport {
  let loaded: Promise<RunnerTransport> | undefined;
  return {
    place,
    open: async (options): Promise<RunnerLink> => {
      loaded ??= load();
      // One that could not be made is tried again: a person may have mended what it lacked.
      loaded.catch(() => (loaded = undefined));
      return (await loaded).open(options);
    },
    // One that can't be made has nothing to let go of.
    dispose: async () => (await loaded?.catch(() => undefined))?.dispose(),
  };
}

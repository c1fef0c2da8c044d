import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CardStatus } from '../../protocol/src/engine.ts';
import { localPlace } from '../../protocol/src/places.ts';
import { KnownWorkers } from '../../language-server/src/runners/worker/knownWorkers.ts';
import { openSocket } from '../support/openSocket.ts';
import { openPlaceEngine } from '../support/placeEngine.ts';
import { ServedProcess } from '../support/servedRunner.ts';
import { removeHost, SshHost } from '../support/sshHost.ts';
import type { TestEngine } from '../support/testEngine.ts';
import { newIdentity, WorkerRig } from '../support/workerRig.ts';
import { missingRow, type BenchRow } from './benchRow.ts';

const cards = 1000;
const turns = 2;
/** What a card takes of its turn, and next to nothing of a processor: all that is measured shares this machine. */
const cardSeconds = 1;
const places = [localPlace, 'ssh:one', 'ssh:two', 'worker:bench'] as const;
const goal = 0.9;

/**
 * A run of many cards that are all ready, spread over this machine, two SSH hosts and a worker of two turns each, all on
 * this one machine: the share of its turns that a place spends in programs of cards, from its first start to its last
 * end. A VM would have to share two processors with the others and be slow for that alone, so it is left out.
 */
export async function busyPlacesBench(): Promise<BenchRow[]> {
  const name = `${cards} queued cards of ${cardSeconds} s over ${places.length} places: time in cards, of the turns there are`;
  if (!existsSync('/usr/sbin/sshd')) return [missingRow('remote', `${name}: sshd`, '')];
  const folder = mkdtempSync(join(tmpdir(), 'sallyport-bench-busy-'));
  const hosts = ['one', 'two'].map((each) => new SshHost({ folder: join(folder, each) }));
  const rig = new WorkerRig(folder);
  const served = new ServedProcess(join(folder, 'served'), turns);
  let engine: TestEngine | undefined;
  try {
    for (const host of hosts) await host.start();
    await served.start();
    engine = await openEngine(folder, hosts, rig, served);
    await engine.acceptAll();
    const runId = await engine.start();
    await engine.services.whenFinished(runId);
    const view = await engine.view(runId);
    const ended = view.cards.map(({ status }) => status);
    const failed = ended.find(({ state }) => state !== 'done');
    if (failed) throw new Error(JSON.stringify(failed));
    return places.map((place) => {
      const share = busyShare(ended.filter((each) => (each.place ?? localPlace) === place));
      return {
        group: 'remote',
        name: `${name} (${place})`,
        unit: '',
        goal: `≥ ${goal}`,
        ours: share,
        peer: null,
        ratio: null,
        holds: share >= goal,
      };
    });
  } finally {
    await engine?.dispose();
    await rig.stop().catch(() => undefined);
    await served.stop('SIGKILL');
    for (const host of hosts) await removeHost(host);
    rmSync(folder, { recursive: true, force: true });
  }
}

async function openEngine(
  folder: string,
  hosts: readonly SshHost[],
  rig: WorkerRig,
  served: ServedProcess,
): Promise<TestEngine> {
  const signer = newIdentity();
  rig.admit(signer);
  await rig.start(() => openSocket(served.socket));
  const home = join(folder, 'home');
  mkdirSync(home, { mode: 0o700 });
  new KnownWorkers(home, process.getuid?.() ?? -1).add('bench', rig.pinned);
  const known = join(folder, 'known_hosts');
  writeFileSync(known, hosts.map((host) => host.knownLine()).join(''));
  const [one = '', two = ''] = hosts.map((host, index) => host.configBlock(index === 0 ? 'one' : 'two'));
  const config = join(folder, 'ssh_config');
  writeFileSync(config, `${one}${two}Host *\n  UserKnownHostsFile ${known}\n  GlobalKnownHostsFile none\n`);
  const project = join(folder, 'project');
  writeCards(project);
  const placeSurroundings = { identity: () => Promise.resolve(signer) };
  return openPlaceEngine(home, project, config, { parallel: turns, placeSurroundings });
}

function writeCards(root: string): void {
  mkdirSync(join(root, 'cards'), { recursive: true });
  writeFileSync(
    join(root, 'sallyport.json'),
    JSON.stringify({ version: 1, name: 'busy', cards: ['cards/*'] }),
  );
  for (let index = 0; index < cards; index += 1) {
    const folder = join(root, 'cards', `c${index}`);
    mkdirSync(folder);
    const place = places[index % places.length];
    const card = {
      version: 1,
      title: `Card ${index}`,
      runtime: 'shell',
      entry: 'main.sh',
      outputs: {},
      ...(place === localPlace ? {} : { permissions: { executionService: place } }),
    };
    writeFileSync(join(folder, '_card.json'), JSON.stringify(card));
    writeFileSync(join(folder, 'main.sh'), `sleep ${cardSeconds} # ${index}\n`);
  }
}

/** Milliseconds in programs, of those that the turns had from the first start to the last end. */
function busyShare(all: readonly CardStatus[]): number {
  const inCards = all.reduce((sum, { runMs }) => sum + (runMs ?? 0), 0);
  const from = Math.min(...all.map(({ startedAt }) => startedAt ?? Infinity));
  const to = Math.max(...all.map(({ finishedAt }) => finishedAt ?? 0));
  return inCards / (turns * (to - from));
}

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { blobPath } from '../../../protocol/src/runner.ts';
import { putBlob, putTree } from '../../support/blobs.ts';
import { jobWith } from '../../support/jobs.ts';
import { PlaceClient } from '../../support/placeClient.ts';
import { Heard, type TestPlace } from '../../support/remotePlace.ts';
import type { CardClient } from '../../support/runnerClient.ts';
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
  /** Leaves the secret there once more, where a connection that was lost meanwhile may have had it cleared up. */
  leaveAgain?(): Promise<void>;
  /** What cards have damaged or left, in words. Asked when all have ended. */
  damage(): Promise<string[]>;
  close(): Promise<void>;
}

/** A variable that whatever starts runners over there has, and that no card may get. */
export const secretVariable = 'SALLYPORT_TEST_SECRET';

/** The attack types into the terminal of a runner that has one. */
export function withoutTerminal(attack: Attack): string | undefined {
  return attack.terminal ? 'no runner elsewhere has a terminal' : undefined;
}

/** What a served runner keeps, by the names of `runnerHome.ts`. */
export function servedLures(home: string, secretBlob: string): LureValues {
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

/** Leaves the secret there, and gives a client of the runner. */
export async function clientOf(
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
export async function leaveSecret(place: TestPlace, engine: EnginePlaces, canary: string): Promise<void> {
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

/** Where a store has the secret result of another card, below its folder. */
export function secretPath({ secretBlob }: EnginePlaces): string {
  return blobPath(createHash('sha256').update(readFileSync(secretBlob)).digest('hex'));
}

/** Files that no card may change. */
export class Unchanged {
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

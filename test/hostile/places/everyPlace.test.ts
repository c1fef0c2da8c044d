import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { readAttacks, type Attack } from '../cards/attack.ts';
import { openRange, type Range } from '../cards/range.ts';
import type { SealedReport } from '../cards/sealedRun.ts';
import type { HostilePlace, OpenHostilePlace } from './hostilePlace.ts';
import { hostilePlaces } from './hostilePlaces.ts';

/** Those on what a place keeps come first: their control needs what has not been cleared up yet. */
const ownAttacks = readAttacks('places');
const attacks = [...ownAttacks, ...readAttacks()];

/** How many attacks are under way in each place: all places go on at once, and each is a machine of its own to them. */
const ahead = 6;

interface Opened {
  readonly place: OpenHostilePlace;
  readonly range: Range;
  readonly runs: Map<string, Promise<SealedReport>>;
}

/** With it, everything is tried everywhere; takes twice as long. */
const tryAll = process.env['SALLYPORT_EVERYWHERE'] === '1';
const onThisKernel = hostilePlaces.filter(({ ownKernel }) => !ownKernel);

/**
 * Every attack is tried in a place with a kernel of its own, and by turns in one of those that share this one's: they
 * have the same runner and the same sandbox. What the way there has a part in, and what the place keeps, is tried in
 * each.
 */
function isTried(attack: Attack, place: HostilePlace): boolean {
  if (tryAll || place.ownKernel || ownAttacks.includes(attack)) return true;
  if (attack.hosts || attack.network || attack.cancelAt) return true;
  return onThisKernel[attacks.indexOf(attack) % onThisKernel.length] === place;
}

/**
 * The hostile cards through every transport, each place opened once and kept. That the attacks work where nothing holds
 * them is shown by the suite of the cards here; what is tried on a place's own things has its control in this file, in a
 * place that is this machine, and for the VM in `vmControl.test.ts`.
 */
describe('hostile cards elsewhere', function () {
  this.timeout(900_000);
  const opened = new Map<string, Opened>();
  let folder = '';

  before(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-there-'));
    const all = await Promise.allSettled(hostilePlaces.map(openPlace));
    for (const each of all) if (each.status === 'rejected') throw each.reason;
  });

  async function openPlace({ name, fault, open }: HostilePlace): Promise<void> {
    const why = fault();
    if (why !== undefined) {
      console.log(`      left out: ${name}. ${why}`);
      return;
    }
    const place = open(join(folder, name));
    try {
      opened.set(name, { place, range: await openRange({ place }), runs: new Map() });
    } catch (error) {
      await place.close();
      throw error;
    }
  }

  after(async () => {
    for (const { place, range, runs } of opened.values()) {
      await Promise.allSettled(runs.values());
      await range.close();
      await place.close();
    }
    rmSync(folder, { recursive: true, force: true });
  });

  /** Starts an attack in every place, and the few after it. */
  function runOf(attack: Attack, name: string): Promise<SealedReport> {
    const at = attacks.indexOf(attack);
    for (const next of attacks.slice(at, at + ahead)) {
      for (const place of hostilePlaces) {
        const here = opened.get(place.name);
        if (!here || here.runs.has(next.name) || !isTried(next, place) || place.leftOut(next)) continue;
        const run = here.range.sealed(unhurried(next));
        run.catch(() => undefined);
        here.runs.set(next.name, run);
      }
    }
    return opened.get(name)?.runs.get(attack.name) ?? assert.fail(`${attack.name} was not started`);
  }

  for (const attack of attacks) {
    for (const { name, leftOut } of hostilePlaces.filter((place) => isTried(attack, place))) {
      it(`${attack.name} in ${name}: ${attack.title} [PLACE-13]`, async function () {
        const why = opened.has(name) ? leftOut(attack) : 'there is no such place here';
        if (why !== undefined) {
          console.log(`      left out: ${attack.name} in ${name}: ${why}`);
          this.skip();
        }
        const { outcome, evidence, held, log } = await runOf(attack, name);
        const told = `\n${log.slice(0, 3000)}\n${JSON.stringify(outcome)}`;
        assert.deepEqual(evidence, [], `The attack worked.${told}`);
        const expected = asksForFolders(attack) ? ['refused'] : attack.sealed.outcome.map(({ kind }) => kind);
        assert.ok(expected.includes(outcome.kind), `It did not end as ${expected.join(' or ')}.${told}`);
        if (outcome.kind !== 'exited') return;
        for (const route of Object.keys(attack.routes))
          assert.ok(held.has(route), `It did not say what became of the route ${route}.${told}`);
      });
    }
  }

  for (const attack of ownAttacks) {
    for (const { name } of onThisKernel) {
      it(`${attack.name} in ${name}: works with the protection off`, async function () {
        const here = opened.get(name);
        if (!here) {
          console.log(`      left out: there is no ${name} here`);
          this.skip();
        }
        await here.place.leaveAgain?.();
        const { evidence, log } = await here.range.plain(attack);
        const got = new Set(
          evidence.filter(({ proof }) => proof === 'route').map(({ detail }) => detail.split(' ')[0]),
        );
        const closed = Object.entries(attack.routes).filter(([route, why]) => why === '' && !got.has(route));
        assert.deepEqual(closed, [], `The control proves nothing.\n${log.slice(0, 3000)}`);
        assert.ok(evidence.some(({ proof }) => proof === 'canary'));
      });
    }
  }

  for (const { name } of hostilePlaces) {
    it(`nothing of them is left in ${name}, and nothing there was changed [PLACE-13]`, async function () {
      const here = opened.get(name);
      if (!here) {
        console.log(`      left out: there is no ${name} here`);
        this.skip();
      }
      await Promise.allSettled(here.runs.values());
      assert.deepEqual(await here.place.damage(), []);
    });
  }
});

/** For an attack that is not about time: neither a busy machine nor a VM whose instructions are translated is a limit. */
function unhurried(attack: Attack): Attack {
  if (attack.sealed.outcome.some(({ kind }) => kind === 'timeout')) return attack;
  return { ...attack, limits: { ...attack.limits, seconds: 120 } };
}

/** Folders of this computer are refused elsewhere, whatever a card would do in them (PLACE-11). */
function asksForFolders(attack: Attack): boolean {
  return attack.hostFolders !== undefined || attack.showsProject === true;
}

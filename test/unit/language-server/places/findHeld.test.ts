import assert from 'node:assert/strict';
import { UserError } from '../../../../protocol/src/errors.ts';
import {
  FindHeld,
  findTimes,
  type HeldThere,
} from '../../../../language-server/src/runners/places/findHeld.ts';
import type { PlaceRunner, Search } from '../../../../language-server/src/runners/places/placeRunner.ts';

/** Timers that a test runs by hand. */
class Timers {
  readonly waiting: { readonly run: () => void; readonly ms: number }[] = [];
  readonly set = (run: () => void, ms: number) => {
    const timer = { run, ms };
    this.waiting.push(timer);
    return () => {
      if (this.waiting.includes(timer)) this.waiting.splice(this.waiting.indexOf(timer), 1);
    };
  };

  /** Runs what waits longest, with what follows at once; how long it waited. */
  async next(): Promise<number> {
    const timer = this.waiting.shift();
    timer?.run();
    await new Promise((resolve) => setImmediate(resolve));
    return timer?.ms ?? -1;
  }
}

/** A place that is found as the test says. */
class LookedFor {
  readonly searches: Search[] = [];
  readonly said: string[][] = [];
  readonly #answers: (UserError | undefined)[];

  constructor(answers: (UserError | undefined)[]) {
    this.#answers = answers;
  }

  async find(search: Search): Promise<void> {
    this.searches.push(search);
    await Promise.resolve();
    const answer = this.#answers.shift();
    if (answer) throw answer;
  }

  say(...words: string[]): void {
    this.said.push(words);
  }
}

const unreachable = () => new UserError('unreachable', 'no answer');

describe('what other places hold of earlier engines', () => {
  const look = (held: readonly HeldThere[], ...answers: (UserError | undefined)[]) => {
    const timers = new Timers();
    const place = new LookedFor(answers);
    const asked: string[] = [];
    const problems: string[] = [];
    const state = { held, hasOthers: false, isWatched: true };
    let engineEnds: (() => void) | undefined;
    const find = new FindHeld({
      held: () => state.held,
      get: (id) => {
        asked.push(id);
        return place as unknown as PlaceRunner;
      },
      setTimer: timers.set,
      watchEngines: (changed) => {
        engineEnds = state.isWatched ? changed : undefined;
        return engineEnds && (() => (engineEnds = undefined));
      },
      hasOthers: () => state.hasOthers,
      onProblem: (problem) => problems.push(problem),
    });
    return { timers, place, asked, problems, state, find, engines: () => engineEnds };
  };
  const lab: HeldThere = { place: 'ssh:lab', cards: 2, isAccepted: true };

  it('[PLACE-17] is looked for a moment after it was asked for, once however often that was', async () => {
    const { timers, place, find } = look([lab]);
    find.schedule();
    find.schedule();
    assert.equal(place.searches.length, 0);
    assert.equal(await timers.next(), findTimes.startMs);
    assert.equal(place.searches.length, 1);
    assert.equal(place.searches[0]?.looking, 'Looking for 2 cards at ssh:lab');
    assert.deepEqual(timers.waiting, []);
  });

  it('[PLACE-17] asks no place where nothing is held, nor a VM, nor what is no place', async () => {
    const { timers, asked, find } = look([
      { ...lab, place: 'vm' },
      { ...lab, place: 'vm:abc' },
      { ...lab, place: 'local' },
      { ...lab, place: 'ssh:-oProxyCommand=x' },
    ]);
    find.schedule();
    await timers.next();
    assert.deepEqual(asked, []);
  });

  it('[PLACE-17] is looked for ever less often where the place can’t be reached, and then no more, in words', async () => {
    const { timers, place, find } = look([lab], ...findTimes.waitsMs.map(unreachable), unreachable());
    find.schedule();
    const waited: number[] = [];
    while (timers.waiting.length > 0) waited.push(await timers.next());
    assert.deepEqual(waited, [findTimes.startMs, ...findTimes.waitsMs]);
    const words = place.searches.map(({ notReached }) => notReached);
    assert.match(words[0] ?? '', /^It may hold 2 cards of this window\. Sallyport looks again in 5 seconds$/);
    assert.match(words.at(-2) ?? '', /again in 10 minutes$/);
    assert.match(words.at(-1) ?? '', /does not look for it by itself any more; Check Place does$/);
  });

  it('[PLACE-17] is found by a later look, and then not looked for', async () => {
    const { timers, place, find } = look([lab], unreachable(), undefined);
    find.schedule();
    while (timers.waiting.length > 0) await timers.next();
    assert.equal(place.searches.length, 2);
  });

  for (const code of ['host-key', 'sign-in', 'incompatible', 'interpreter-missing', 'not-found'] as const)
    it(`[PLACE-18] is not looked for again where only a person can help: ${code}`, async () => {
      const { timers, place, find } = look([lab], new UserError(code, 'no'));
      find.schedule();
      await timers.next();
      assert.equal(place.searches.length, 1);
      assert.deepEqual(timers.waiting, []);
    });

  it('[PLACE-18] is left where its place is not accepted any more, which says so', async () => {
    const { timers, place, find } = look([{ ...lab, isAccepted: false }]);
    find.schedule();
    await timers.next();
    assert.deepEqual(place.searches, []);
    assert.match(place.said[0]?.join(' ') ?? '', /hold 2 cards.*not accepted any more.*Check Place/);
  });

  for (const [title, held] of [
    ['a permission that was taken back', [{ ...lab, isAccepted: false }]],
    ['a result that another window has fetched, or a workspace that is not trusted', []],
  ] as const)
    it(`[PLACE-18] between two looks ${title} ends looking`, async () => {
      const { timers, place, state, find } = look([lab], unreachable());
      find.schedule();
      await timers.next();
      state.held = held;
      await timers.next();
      assert.equal(place.searches.length, 1);
      assert.equal(place.said.length, held.length);
      assert.deepEqual(timers.waiting, []);
    });

  it('[PLACE-17] is looked for again once it was looked for and holds more, but not where it waits for a person', async () => {
    const needs = new UserError('sign-in', 'no');
    const { timers, place, find, state } = look([lab], undefined, needs, undefined);
    find.again();
    assert.deepEqual(timers.waiting, []);
    find.schedule();
    await timers.next();
    for (const [round, { cards, searches }] of [
      { cards: 2, searches: 1 },
      { cards: 3, searches: 2 },
      { cards: 4, searches: 2 },
    ].entries()) {
      state.held = [{ ...lab, cards }];
      find.again();
      assert.equal(await timers.next(), findTimes.startMs);
      assert.equal(place.searches.length, searches, `round ${round}`);
    }
    // A start, trust or another folder begins anew.
    find.schedule();
    await timers.next();
    assert.equal(place.searches.length, 3);
  });

  it('[PLACE-17] of another engine is looked for when that one ends, and no place is asked before', async () => {
    const { timers, place, find, state, engines } = look([]);
    find.schedule();
    await timers.next();
    // With nobody else there is no timer: nothing polls.
    assert.deepEqual(timers.waiting, []);
    engines()?.();
    await timers.next();
    assert.equal(place.searches.length, 0);
    state.held = [lab];
    engines()?.();
    engines()?.();
    assert.equal(await timers.next(), findTimes.startMs);
    assert.equal(place.searches.length, 1);
    assert.deepEqual(timers.waiting, []);
    find.dispose();
    assert.equal(engines(), undefined);
  });

  for (const isWatched of [true, false])
    it(`[PLACE-17] of another engine is looked for though that one was killed${isWatched ? '' : ', and nothing can be watched'}`, async () => {
      const { timers, place, find, state } = look([]);
      Object.assign(state, { hasOthers: true, isWatched });
      find.schedule();
      assert.equal(await timers.next(), findTimes.startMs);
      for (let minute = 0; minute < 3; minute += 1) {
        assert.deepEqual(
          timers.waiting.map(({ ms }) => ms),
          [findTimes.othersMs],
        );
        await timers.next();
      }
      assert.equal(place.searches.length, 0);
      Object.assign(state, { hasOthers: false, held: [lab] });
      await timers.next();
      assert.equal(place.searches.length, 1);
      assert.deepEqual(timers.waiting, []);
    });

  it('[PLACE-17] ends with the engine, whatever waits then', async () => {
    for (const answers of [[], [unreachable()]]) {
      const { timers, place, find } = look([lab], ...answers);
      find.schedule();
      if (answers.length > 0) await timers.next();
      find.dispose();
      assert.deepEqual(timers.waiting, []);
      find.schedule();
      assert.deepEqual(timers.waiting, []);
      assert.equal(place.searches.length, answers.length);
    }
  });

  it('[PLACE-17] a store that can’t be read is a problem and nothing more', async () => {
    const { timers, problems, find, state } = look([lab]);
    Object.defineProperty(state, 'held', {
      get: () => {
        throw new UserError('store-damaged', 'damaged');
      },
    });
    find.schedule();
    await timers.next();
    assert.match(problems[0] ?? '', /damaged/);
  });
});

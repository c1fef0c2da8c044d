import type { CallClock } from './callClock.ts';
import type { HostCalls } from './hostCalls.ts';

/** A call that the worker has been given. */
export interface UnderWay {
  /** Nobody waits for it any more. */
  isAbandoned: boolean;
  /** The worker was ended before the plugin was entered for it. */
  isUntouched: boolean;
}

export interface CallsUnderWayOptions {
  readonly clock: Pick<CallClock, 'begin' | 'end' | 'isRunning'>;
  readonly hostCalls: Pick<HostCalls, 'allowMore' | 'abort' | 'close'>;
  /** The thread: it keeps the process alive while a call is under way, and at no other time. */
  readonly worker: { ref(): void; unref(): void };
  /** Ends the worker. */
  readonly end: () => void;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/** The calls that one worker is doing, and what becomes of those that nobody waits for. */
export interface CallsUnderWay {
  /** Those that nobody waits for included. */
  readonly size: number;
  /** A call, which may run for `budgetMs`, goes to the worker. */
  begin(call: UnderWay, budgetMs: number): void;
  /** It is over, however it ended. */
  finish(call: UnderWay): void;
  /** Something came from the worker: it does not do one and the same thing. */
  heard(): void;
  /**
   * Nobody waits for this call. Where that holds for all, what they wait for is taken back. Soon after, the worker ends
   * if nobody waits for any, or if it has done nothing since but run: calls that came later were not begun then.
   */
  abandon(call: UnderWay): void;
}

/** How long a plugin may go on with a call that nobody waits for. */
const abandonedMs = 500;

export function createCallsUnderWay(options: CallsUnderWayOptions): CallsUnderWay {
  const { clock, hostCalls, worker, end, setTimer } = options;
  const calls = new Set<UnderWay>();
  let heard = 0;
  const isAlone = (): boolean => [...calls].every((each) => each.isAbandoned);
  return {
    get size() {
      return calls.size;
    },
    begin: (call, budgetMs) => {
      calls.add(call);
      hostCalls.allowMore();
      worker.ref();
      clock.begin(call, budgetMs);
    },
    finish: (call) => {
      clock.end(call);
      calls.delete(call);
      if (calls.size > 0) return;
      hostCalls.close();
      worker.unref();
    },
    heard: () => {
      heard++;
    },
    abandon: (call) => {
      call.isAbandoned = true;
      if (isAlone()) hostCalls.abort('The call was cancelled');
      const [heardThen, wasRunning, begun] = [heard, clock.isRunning, new Set(calls)];
      const decide = (): void => {
        const isStuck = wasRunning && heard === heardThen;
        if (!calls.has(call) || (!isAlone() && !isStuck)) return;
        for (const each of calls) each.isUntouched = isStuck && !begun.has(each);
        end();
      };
      // A turn later: what came while the engine was busy is heard first.
      setTimer(() => setImmediate(decide), abandonedMs);
    },
  };
}

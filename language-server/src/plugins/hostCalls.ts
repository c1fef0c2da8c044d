import { BridgeError } from '../../../protocol/src/bridge.ts';
import { pluginLimits } from '../../../protocol/src/plugin.ts';

/** Does what a host function does: JSON text in and out. Rejects with `BridgeError`. */
export type ServeHostCall = (name: string, params: string, signal: AbortSignal) => Promise<string>;

export interface HostCallsOptions {
  /** Undefined while no call is under way: then nothing is served. */
  readonly server: () => ServeHostCall | undefined;
  /** Gives the worker its answer: the value, or `{ code, message }`, as JSON text. */
  readonly answer: (id: number, ok: boolean, text: string) => void;
}

/** What the plugin of one worker asks of the host. */
export interface HostCalls {
  /** A call begins, and brings host functions that may be asked for. */
  allowMore(): void;
  /** Answers in its turn. Never throws. */
  ask(id: number, name: string, params: string): void;
  /** Takes back what is being done. */
  abort(why: string): void;
  /** The last call is over: nothing more may be asked for, and what is being done is taken back. */
  close(): void;
}

/** Each is bounded: how many at once, how many to a call, and how long an answer may be. */
export function createHostCalls({ server, answer }: HostCallsOptions): HostCalls {
  const asked = new Map<number, AbortController>();
  /** Host functions that may still be asked for. */
  let mayAsk = 0;
  /** What is asked begins one after the other, each in a turn of its own: the engine has other things to do in between. */
  let turn = Promise.resolve();

  const refuse = (id: number, error: unknown): void => {
    const { code, message } =
      error instanceof BridgeError ? error : new BridgeError('internal', 'Sallyport failed to do this');
    answer(id, false, JSON.stringify({ code, message: message.slice(0, pluginLimits.messageLength) }));
  };

  const serve = async (id: number, name: string, params: string): Promise<void> => {
    const does = server();
    if (!does) {
      refuse(id, new BridgeError('cancelled', 'No call is under way'));
      return;
    }
    if (asked.has(id) || asked.size >= pluginLimits.hostCalls || --mayAsk < 0) {
      refuse(id, new BridgeError('too-many', 'Too many host functions at once, or in one call'));
      return;
    }
    const controller = new AbortController();
    asked.set(id, controller);
    try {
      await (turn = turn.then(nextTurn));
      controller.signal.throwIfAborted();
      const value = await does(name, params, controller.signal);
      if (value.length > pluginLimits.textLength)
        throw new BridgeError('too-large', 'What came is larger than a plugin can take');
      asked.delete(id);
      answer(id, true, value);
    } catch (error) {
      asked.delete(id);
      refuse(id, controller.signal.aborted ? controller.signal.reason : error);
    }
  };

  const abort = (why: string): void => {
    const reason = new BridgeError('cancelled', why);
    for (const controller of asked.values()) controller.abort(reason);
  };

  return {
    allowMore: () => {
      mayAsk += pluginLimits.hostCallsPerCall;
    },
    ask: (id, name, params) => void serve(id, name, params),
    abort,
    close: () => {
      mayAsk = 0;
      abort('The call is over');
    },
  };
}

function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

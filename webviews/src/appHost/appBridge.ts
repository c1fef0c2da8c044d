import { bridgeCodeOf, bridgeRefusal, bridgeValue, type AppTheme } from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { CallLimits } from './callLimits.ts';
import type { judgeCall } from './judgeCall.ts';

export interface AppBridgeOptions {
  readonly judge: typeof judgeCall;
  readonly limits: CallLimits;
  /** Passes a checked call on to the extension. Rejects with `UserError`. */
  readonly forward: (
    call: { method: string; params: string; callId?: string },
    signal: AbortSignal,
  ) => Promise<{ answer: string }>;
  readonly theme: () => AppTheme;
  /** A call was refused here; for the log. */
  readonly onRefused: (method: string, code: string) => void;
}

export interface AppCall {
  readonly method: string;
  readonly params: string;
  readonly stream?: string | undefined;
}

/** The shell's half of the bridge. Answers every call with the JSON text of a `bridgeAnswer`, and never rejects. */
export class AppBridge {
  readonly #options: AppBridgeOptions;
  readonly #streams = new Map<string, (text: string) => void>();
  #nextId = 1;

  constructor(options: AppBridgeOptions) {
    this.#options = options;
  }

  /** `hear` gets the pieces of a streamed text, under the name that the frame gave it. */
  async answer(call: AppCall, signal: AbortSignal, hear: (text: string) => void): Promise<string> {
    const { judge, limits, forward, theme, onRefused } = this.#options;
    const refuse = (code: Parameters<typeof bridgeRefusal>[0], message: string) => {
      onRefused(call.method, code);
      return bridgeRefusal(code, message);
    };
    const judged = judge(call.method, call.params);
    if (!judged.ok) return refuse(judged.code, judged.message);
    if (judged.isOwn) return bridgeValue(theme());
    if (!limits.enter(judged.lane)) {
      return judged.lane === 'person'
        ? refuse('declined', 'The person is being asked something else, or was asked often enough')
        : refuse('too-many', `Too many calls of ${call.method} at once or in a short time`);
    }
    const callId = call.stream === undefined ? undefined : `${this.#nextId++}`;
    if (callId !== undefined) this.#streams.set(callId, hear);
    try {
      const passed = { method: call.method, params: judged.params };
      return (await forward(callId === undefined ? passed : { ...passed, callId }, signal)).answer;
    } catch (error) {
      if (!(error instanceof UserError)) return bridgeRefusal('internal', 'The call failed');
      return bridgeRefusal(bridgeCodeOf(error.code), wordsOf(error));
    } finally {
      limits.leave(judged.lane);
      if (callId !== undefined) this.#streams.delete(callId);
    }
  }

  /** A piece of a text from the extension. One that nothing waits for is dropped. */
  hear(callId: string, text: string): void {
    this.#streams.get(callId)?.(text);
  }
}

/** Errors between our own processes may name paths; an app gets general words. */
function wordsOf(error: UserError): string {
  switch (error.code) {
    case 'cancelled':
      return 'The call was given up';
    case 'timeout':
      return 'There was no answer in time';
    case 'closed':
      return 'Sallyport’s engine is not there';
    case 'too-large':
      return 'This is more than one call takes';
    default:
      return 'The call failed';
  }
}

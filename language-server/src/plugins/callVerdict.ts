import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import type { FunctionSchema } from '../../../protocol/src/functionSchema.ts';
import { parseOutput } from './callValues.ts';
import type { StopCode } from './pluginFaults.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { CallEnd } from './pluginThread.ts';

export type SettledEnd = Exclude<CallEnd, { kind: 'untouched' }>;

/** What a call comes to: its result, or the error that its caller gets. */
export type CallVerdict =
  | { readonly value: Json }
  | {
      readonly error: BridgeError;
      /** What people are to be told of the plugin. */
      readonly noted?: string;
      /** Why the plugin counts as one that had to be stopped. */
      readonly stop?: StopCode;
    };

/** Judges how a call ended. The result is data from a stranger, checked against `schema`. */
export function judgeEnd(end: SettledEnd, schema: FunctionSchema): CallVerdict {
  switch (end.kind) {
    case 'ok': {
      const read = parseOutput(schema, end.output);
      return 'problem' in read ? failed(pluginMessages.output(read.problem)) : { value: read.output };
    }
    case 'error':
    case 'killed': {
      const { code } = end;
      if (code === 'timeout' || code === 'memory' || code === 'broken') {
        const shown = code === 'timeout' ? 'timeout' : 'plugin-failed';
        return { error: new BridgeError(shown, pluginMessages.stopped(code)), stop: code };
      }
      const said = pluginMessages.said(end.message);
      return code === 'too-large' ? { error: new BridgeError('too-large', said) } : failed(said);
    }
    case 'ended':
      return { error: new BridgeError('unavailable', pluginMessages.ended()) };
    case 'cancelled':
      return { error: new BridgeError('cancelled', pluginMessages.cancelled()) };
    case 'waited':
      return { error: new BridgeError('timeout', pluginMessages.waited()) };
  }
}

function failed(text: string): CallVerdict {
  return { error: new BridgeError('plugin-failed', text), noted: text };
}

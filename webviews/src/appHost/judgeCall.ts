import type { BridgeErrorCode } from '../../../protocol/src/bridge.ts';
import { hasShape, shellTable, type Lane } from './shellTable.ts';

export type Judgement =
  | { readonly ok: true; readonly lane: Lane; readonly isOwn: boolean; readonly params: string }
  | { readonly ok: false; readonly code: BridgeErrorCode; readonly message: string };

const mostCharacters = 3 * 1024 * 1024;

/**
 * Whether the shell passes a call on, and with which text: the parameters are written anew from what was checked, so
 * that nobody behind reads anything else.
 */
export function judgeCall(method: string, params: string): Judgement {
  const entry = shellTable.get(method);
  if (!entry) return refused('not-allowed', `An app may not ask for ${method.slice(0, 64)}`);
  if (params.length > mostCharacters) {
    return refused('too-large', `One call takes at most ${mostCharacters} characters`);
  }
  let value: unknown;
  try {
    value = JSON.parse(params);
  } catch {
    return refused('bad-params', `The parameters of ${method} are not JSON`);
  }
  if (!hasShape(value, entry.shape)) return refused('bad-params', `The parameters of ${method} do not fit`);
  return { ok: true, lane: entry.lane, isOwn: entry.isOwn ?? false, params: JSON.stringify(value) };
}

function refused(code: BridgeErrorCode, message: string): Judgement {
  return { ok: false, code, message };
}

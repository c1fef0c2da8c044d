import { constants } from 'node:os';
import type { JobOutcome } from '../../protocol/src/runner.ts';
import type { ProgramEnd } from './isolation/sandbox.ts';
import type { Excess } from './watchdog.ts';

/** Why the runner ended a job before its program did. */
export type Stop =
  | { readonly kind: 'cancelled' }
  | { readonly kind: 'timeout'; readonly seconds: number }
  | ({ readonly kind: 'excess' } & Excess);

export interface Observed {
  /** Undefined where the program ended by itself. */
  readonly stop: Stop | undefined;
  readonly end: ProgramEnd;
  /** What a limit that the kernel keeps says afterwards. */
  readonly excess: Excess | undefined;
}

/**
 * Names the end of a job. What the runner did comes before what was seen of the program; a limit that the kernel
 * kept comes before the exit status that it led to; an end that nobody saw is `unknown`.
 */
export function decideOutcome({ stop, end, excess }: Observed): JobOutcome {
  if (stop) {
    if (stop.kind === 'excess') return { kind: 'limit', limit: stop.limit, detail: stop.detail };
    return stop;
  }
  // A program may well live with not getting another process; not with outputs that were cut short.
  const isLivedWith = excess?.limit === 'processes' && end.kind === 'exited' && end.exitCode === 0;
  if (excess && !isLivedWith) return { kind: 'limit', limit: excess.limit, detail: excess.detail };
  switch (end.kind) {
    case 'exited':
      return { kind: 'exited', exitCode: end.exitCode };
    case 'signalled':
      return { kind: 'signalled', signal: signalName(end.number) };
    case 'lost':
      return { kind: 'unknown', detail: `The sandbox ended before its program was seen to: ${end.said}` };
  }
}

function signalName(number: number): string {
  const found = Object.entries(constants.signals).find(([, value]) => value === number);
  return found?.[0] ?? `signal ${number}`;
}

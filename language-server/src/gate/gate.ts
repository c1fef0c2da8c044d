import * as z from 'zod/mini';
import type { Json } from '../../../protocol/src/canonicalJson.ts';
import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { Approval, Decision, Grant, GrantKind, Target } from '../../../protocol/src/gate.ts';
import { parseAs } from '../../../protocol/src/parseJson.ts';
import { refusalCodes, type Act, type GateResult, type RefusalCode } from './act.ts';
import { decide, grantFor } from './decide.ts';
import type { Ledger } from './ledger.ts';
import { argumentDigest, createReview, measureDigest } from './review.ts';

/** How long a question waits for a person before it counts as declined. */
const defaultExpiryMs = 10 * 60_000;
/** A result of more characters than this is not kept for a replay; the replay then says so. */
const keptResultLength = 1024 * 1024;

/** What the gate must know of the world, asked at the moment of deciding. */
export interface GateWorld {
  isTrusted(): boolean;
  modeOf(conversation: string | null): 'plan' | 'act';
  titleOf(conversation: string | null): string | null;
}

export interface GateOptions {
  readonly ledger: Ledger;
  readonly world: GateWorld;
  readonly createId: () => string;
  /** Milliseconds since the epoch, for people. */
  readonly now: () => number;
  /** Milliseconds, monotonic, for durations. */
  readonly monotonic: () => number;
  /** Runs `run` after `ms`; answers with what takes that back. */
  readonly setTimer: (run: () => void, ms: number) => () => void;
  readonly onWaitingChanged: (waiting: number) => void;
  readonly expiryMs?: number;
}

type Answer = 'allowed' | 'declined' | 'expired' | 'cancelled';

/** What a receipt keeps of an act that was not done. */
const keptFailure = z.object({ message: z.string() });
const keptRefusal = z.object({ code: z.enum(refusalCodes), reason: z.string() });

/**
 * The one function in front of every effect of every principal. It decides, asks a person where the table says so,
 * writes the receipt before the effect begins, and runs the effect at most once for each operation id.
 */
export class Gate {
  readonly #options: GateOptions;
  readonly #waiting = new Map<string, (answer: Answer) => void>();

  constructor(options: GateOptions) {
    this.#options = options;
  }

  /** Passes one act. Never throws for what the act or its effect does; rejects only where the ledger is lost. */
  async pass<R extends Json>(
    act: Act,
    effect: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<GateResult<R>> {
    const { ledger, now } = this.#options;
    let digest: string;
    try {
      digest = argumentDigest(act.args);
    } catch (error) {
      return refused('check-failed', `The arguments have no canonical form: ${errorMessage(error)}`);
    }
    const begun = ledger.begin({ ...act, argumentDigest: digest, at: now() });
    if (!begun) return this.#replay<R>(act, digest);
    const result = await this.#judge(act, effect, signal);
    if (result.kind !== 'unknown') this.#record(act.opId, result);
    return result;
  }

  /** What `pass` would decide, and nothing else. */
  async tryOut(
    act: Act,
  ): Promise<{ decision: Decision; targets: readonly Target[]; lines: readonly string[] }> {
    try {
      const targets = await act.measure();
      const { title, lines } = act.describe(targets);
      return { decision: this.#decide(act, targets), targets, lines: [title, ...lines] };
    } catch (error) {
      return { decision: checkFailed(error), targets: [], lines: [] };
    }
  }

  waiting(): Approval[] {
    return this.#options.ledger.waiting();
  }

  /** Takes a person's answer. Throws `conflict` where this is not what waits, or waits no longer. */
  answer(id: string, reviewDigest: string, answer: 'allow-once' | 'decline'): void {
    const state = answer === 'allow-once' ? 'allowed' : 'declined';
    if (!this.#options.ledger.answer(id, reviewDigest, state, this.#options.now())) {
      this.#endOverdue();
      throw new UserError('conflict', 'This question no longer waits in the form that was shown', { id });
    }
    this.#settle(id, state);
  }

  /** Declines everything that waits. Returns how many; what had no time left counts as no by itself. */
  declineAll(): number {
    const overdue = this.#endOverdue();
    const waiting = this.waiting().filter(({ id }) => !overdue.has(id));
    for (const { id, reviewDigest } of waiting) this.answer(id, reviewDigest, 'decline');
    return overdue.size + waiting.length;
  }

  grants(scope: string): Grant[] {
    return this.#options.ledger.grants(scope);
  }

  give(grant: { scope: string; kind: GrantKind; conversation: string | null; folder: string }): Grant {
    const given = { ...grant, id: this.#options.createId(), createdAt: this.#options.now() };
    this.#options.ledger.give(given);
    return given;
  }

  revoke(id: string): boolean {
    return this.#options.ledger.revoke(id, this.#options.now());
  }

  async #judge<R extends Json>(
    act: Act,
    effect: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<GateResult<R>> {
    let targets: readonly Target[];
    try {
      targets = await act.measure();
    } catch (error) {
      return refused('check-failed', errorMessage(error));
    }
    const decision = this.#decide(act, targets);
    if (signal.aborted) return refused('cancelled', 'It was cancelled before it began');
    if (decision.verdict === 'deny') return refused('denied', decision.rule.text);
    if (decision.verdict === 'ask') return this.#ask(act, targets, decision, effect, signal);
    if (!this.#options.ledger.start(act.opId)) return refused('conflict', 'It is no longer waiting');
    return this.#run(effect, signal, 0);
  }

  async #ask<R extends Json>(
    act: Act,
    targets: readonly Target[],
    decision: Decision,
    effect: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
  ): Promise<GateResult<R>> {
    const { ledger, now, monotonic, createId, world, expiryMs = defaultExpiryMs } = this.#options;
    const askedAt = monotonic();
    const createdAt = now();
    let review: Approval;
    try {
      review = createReview(act, targets, decision, {
        id: createId(),
        conversationTitle: world.titleOf(act.conversation),
        createdAt,
        expiresAt: createdAt + expiryMs,
      });
    } catch (error) {
      return refused('check-failed', errorMessage(error));
    }
    const answer = this.#wait(review, act.opId, signal, expiryMs);
    this.#changed();
    const given = await answer;
    const waitMs = monotonic() - askedAt;
    if (given === 'declined') return refused('declined', 'A person declined this', waitMs);
    if (given === 'cancelled' || given === 'expired') {
      ledger.close(review.id, given === 'expired' ? 'expired' : 'withdrawn', now());
      this.#changed();
      return given === 'expired'
        ? refused(
            'expired',
            `Nobody answered in ${Math.round(expiryMs / 60_000)} minutes; that counts as no`,
            waitMs,
          )
        : refused('cancelled', 'It was cancelled while it waited', waitMs);
    }
    const problem = await this.#changedSince(act, targets);
    if (problem !== null) {
      ledger.close(review.id, 'withdrawn', now());
      return refused('changed', problem, waitMs);
    }
    if (signal.aborted) {
      ledger.close(review.id, 'withdrawn', now());
      return refused('cancelled', 'It was cancelled before it began', waitMs);
    }
    if (!ledger.consume(review.id, act.opId))
      return refused('conflict', 'This approval was used or withdrawn', waitMs);
    return this.#run(effect, signal, waitMs);
  }

  /** Null where everything is as it was shown, and may still be asked for at all. */
  async #changedSince(act: Act, shown: readonly Target[]): Promise<string | null> {
    try {
      const targets = await act.measure();
      if (measureDigest(targets) !== measureDigest(shown))
        return 'What it touches has changed since it was shown';
      const again = this.#decide(act, targets);
      return again.verdict === 'deny' ? again.rule.text : null;
    } catch (error) {
      return errorMessage(error);
    }
  }

  async #run<R extends Json>(
    effect: (signal: AbortSignal) => Promise<R>,
    signal: AbortSignal,
    waitMs: number,
  ): Promise<GateResult<R>> {
    const startedAt = this.#options.monotonic();
    try {
      const value = await effect(signal);
      return { kind: 'done', value, waitMs, runMs: this.#options.monotonic() - startedAt };
    } catch (error) {
      return {
        kind: 'failed',
        message: errorMessage(error),
        waitMs,
        runMs: this.#options.monotonic() - startedAt,
      };
    }
  }

  #wait(review: Approval, opId: string, signal: AbortSignal, expiryMs: number): Promise<Answer> {
    this.#options.ledger.ask(opId, review);
    return new Promise((resolve) => {
      const settle = (answer: Answer) => {
        if (!this.#waiting.delete(review.id)) return;
        stopTimer();
        signal.removeEventListener('abort', onAbort);
        resolve(answer);
      };
      const onAbort = () => settle('cancelled');
      this.#waiting.set(review.id, settle);
      const stopTimer = this.#options.setTimer(() => settle('expired'), expiryMs);
      signal.addEventListener('abort', onAbort, { once: true });
    });
  }

  /**
   * Ends questions that have no time left. A machine that slept stands behind its clock: the timers of what it asked
   * before run on from where they were. Returns their ids.
   */
  #endOverdue(): ReadonlySet<string> {
    const at = this.#options.now();
    const overdue = this.waiting().filter(({ expiresAt }) => expiresAt <= at);
    for (const { id } of overdue) this.#settle(id, 'expired');
    return new Set(overdue.map(({ id }) => id));
  }

  #settle(id: string, answer: Answer): void {
    this.#waiting.get(id)?.(answer);
    this.#changed();
  }

  #changed(): void {
    this.#options.onWaitingChanged(this.#waiting.size);
  }

  #decide(act: Act, targets: readonly Target[]): Decision {
    try {
      const { ledger, world } = this.#options;
      const kind = grantFor[act.effect];
      return decide({
        principal: act.principal,
        effect: act.effect,
        targets,
        widens: act.permissions.length,
        trusted: world.isTrusted(),
        mode: world.modeOf(act.conversation),
        grants: kind === undefined ? [] : ledger.grantsFor(act.scope, kind, act.conversation),
        conversation: act.conversation,
      });
    } catch (error) {
      return checkFailed(error);
    }
  }

  #record(opId: string, result: Exclude<GateResult<Json>, { kind: 'unknown' }>): void {
    const body =
      result.kind === 'done'
        ? result.value
        : result.kind === 'failed'
          ? { message: result.message }
          : { code: result.code, reason: result.reason };
    const json = JSON.stringify(body);
    this.#options.ledger.finish(opId, {
      state: result.kind,
      result: json.length > keptResultLength ? null : json,
      waitMs: result.waitMs,
      runMs: result.kind === 'refused' ? 0 : result.runMs,
      at: this.#options.now(),
    });
  }

  /** Answers a repeated id from its receipt. The same id for other arguments, or by somebody else, is a conflict. */
  #replay<R extends Json>(act: Act, digest: string): GateResult<R> {
    const { ledger } = this.#options;
    const receipt = ledger.receipt(act.opId);
    const owner = ledger.owner(act.opId);
    const isSame =
      receipt?.argumentDigest === digest &&
      receipt.tool === act.tool &&
      owner?.scope === act.scope &&
      owner.conversation === act.conversation &&
      owner.principal === act.principal;
    if (!receipt || !isSame) return refused('conflict', 'This operation id was used for something else');
    const { waitMs, runMs } = receipt;
    if (receipt.state === 'done') {
      if (receipt.result === null)
        return {
          kind: 'unknown',
          reason: 'It was done, and its result was too long to keep. It is not done again.',
        };
      return { kind: 'done', value: JSON.parse(receipt.result) as R, waitMs, runMs };
    }
    const kept = receipt.result ?? '';
    if (receipt.state === 'failed')
      return { kind: 'failed', message: parseAs(keptFailure, kept)?.message ?? 'It failed', waitMs, runMs };
    if (receipt.state === 'refused') {
      const { code, reason } = parseAs(keptRefusal, kept) ?? { code: 'denied', reason: 'It was refused' };
      return refused(code, reason, waitMs);
    }
    return {
      kind: 'unknown',
      reason: 'It was begun before, and how it ended is not known. It is not tried again.',
    };
  }
}

function refused(
  code: RefusalCode,
  reason: string,
  waitMs = 0,
): { kind: 'refused'; code: RefusalCode; reason: string; waitMs: number } {
  return { kind: 'refused', code, reason, waitMs };
}

function checkFailed(error: unknown): Decision {
  return {
    verdict: 'deny',
    rule: { id: 'check-failed', text: `The check itself failed, and that means no: ${errorMessage(error)}` },
    grantable: null,
  };
}

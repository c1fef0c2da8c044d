import type { Socket } from 'node:net';
import { errorMessage } from '../../protocol/src/errors.ts';
import type { EgressRecord } from '../../protocol/src/runner.ts';
import { EgressError } from './egressDial.ts';
import type { HostRule, Target } from './egressRules.ts';

/** What a record says from the start. */
type RecordStart = Pick<EgressRecord, 'jobId' | 'method' | 'at'>;

/** One request from its first line to its record. */
export class Exchange {
  /** 1 for the first request of the job. */
  readonly ordinal: number;
  target: Target | undefined;
  rule: HostRule | undefined;
  #upstream: Socket | undefined;
  /** What went over the connection before this request. */
  #before = { sent: 0, received: 0 };
  #note = '';
  #address: string | undefined;
  #refusal: EgressError | undefined;
  #over = false;
  #isOpened = false;
  readonly #start: RecordStart;
  readonly #deliver: (record: EgressRecord) => void;

  constructor(ordinal: number, start: RecordStart, deliver: (record: EgressRecord) => void) {
    this.ordinal = ordinal;
    this.#start = start;
    this.#deliver = deliver;
  }

  /** Notes the connection that the rule let through; it is closed where the request fails after that. */
  connected(upstream: Socket): void {
    this.#upstream = upstream;
    this.#before = { sent: upstream.bytesWritten, received: upstream.bytesRead };
    // A closed socket no longer knows where it was connected to.
    this.#address = upstream.remoteAddress;
  }

  /** What the proxy did besides letting it through, for the record. */
  note(text: string): void {
    this.#note = text;
  }

  /** Ends the record of a tunnel whose requests have records of their own. */
  opened(): void {
    this.#isOpened = true;
    this.end();
  }

  /** Ends a request that did not get through and says what to answer. */
  fail(error: unknown): { status: number; text: string } {
    const refusal = error instanceof EgressError ? error : new EgressError('failed', errorMessage(error));
    this.#refusal = refusal;
    this.#address ??= refusal.address;
    this.end();
    this.#upstream?.destroy();
    const status = refusal.verdict === 'refused' ? 403 : 502;
    return { status, text: `Sallyport: ${refusal.message}\n` };
  }

  /** Delivers the record, the first time. */
  end(): void {
    if (this.#over) return;
    this.#over = true;
    const { target, rule } = this;
    const upstream = this.#upstream;
    const isThrough = upstream !== undefined || this.#isOpened;
    const passed = isThrough && rule ? `rule ${rule.text}${this.#note}` : 'the card gave it up';
    this.#deliver({
      ...this.#start,
      host: target?.host ?? '',
      port: target?.port ?? 0,
      ...(this.#address !== undefined && { address: this.#address }),
      verdict: this.#refusal?.verdict ?? (isThrough ? 'allowed' : 'failed'),
      reason: this.#refusal?.message ?? passed,
      sentBytes: Math.max(0, (upstream?.bytesWritten ?? 0) - this.#before.sent),
      receivedBytes: Math.max(0, (upstream?.bytesRead ?? 0) - this.#before.received),
    });
  }
}

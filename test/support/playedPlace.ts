import { Channel } from '../../protocol/src/channel.ts';
import type { RequestHandlers } from '../../protocol/src/contract.ts';
import { UserError } from '../../protocol/src/errors.ts';
import type { IsolationReport } from '../../protocol/src/runner.ts';
import {
  servedEvents,
  servedProtocolVersion,
  servedSide,
  type JobEvent,
} from '../../protocol/src/servedRunner.ts';
import type {
  OpenOptions,
  RunnerTransport,
} from '../../language-server/src/runners/places/runnerTransport.ts';
import { transportPair } from './transportPair.ts';

type Handlers = RequestHandlers<(typeof servedSide)['requests']>;

const isolation: IsolationReport = { kind: 'bubblewrap', version: '1', checks: [], limits: 'cgroup' };

/** A place whose runner a test plays: it answers and tells what the test says, true or not. */
export class PlayedPlace implements RunnerTransport {
  readonly place = 'ssh:played';
  readonly asked: string[] = [];
  readonly opened: Pick<OpenOptions, 'mayAsk'>[] = [];
  /** What opening it rejects with, in order; undefined opens it. */
  readonly failures: (Error | undefined)[] = [];
  /** Resolves each opening; absent, at once. */
  gate: Promise<void> | undefined;
  #channel: Channel<typeof servedSide, typeof servedEvents> | undefined;
  #answers: Partial<Handlers>;

  constructor(answers: Partial<Handlers> = {}) {
    this.#answers = answers;
  }

  async open({ mayAsk }: OpenOptions) {
    this.opened.push({ mayAsk });
    await this.gate;
    const failure = this.failures.shift();
    if (failure) throw failure;
    const [here, there] = transportPair();
    const none = () => Promise.reject(new UserError('internal', 'not asked here'));
    const greet = () => ({
      ...{ protocol: servedProtocolVersion, version: '1', instance: 'a', platform: 'linux', node: 'v24.0.0' },
      ...{ isolation, interpreters: [], parallel: 1, freeBytes: 1 },
    });
    const handlers: Handlers = {
      'runner/greet': greet,
      'lease/renew': () => ({ leaseMs: 1 }),
      'journal/list': () => [],
      'job/submit': () => ({ kind: 'accepted' }),
      'job/attach': () => ({ state: 'running' }),
      'job/cancel': () => ({ found: true }),
      'job/forget': () => ({ found: true }),
      'runner/probe': none,
      'blob/missing': none,
      'blob/clean': none,
      'terminal/offer': none,
      ...this.#answers,
    };
    const counted = Object.fromEntries(
      Object.entries(handlers).map(([method, answer]) => [
        method,
        (params: never, signal: AbortSignal) => {
          this.asked.push(method);
          return answer(params, signal);
        },
      ]),
    ) as unknown as Handlers;
    this.#channel = new Channel(there, servedEvents, {
      local: servedSide,
      requestHandlers: counted,
      notificationHandlers: {},
    });
    return {
      control: here,
      openBulk: none,
      close: () => undefined,
    };
  }

  dispose(): Promise<void> {
    return Promise.resolve();
  }

  tell(jobId: string, seq: number, event: JobEvent): void {
    this.#channel?.notify('job/event', { jobId, seq, event });
  }

  /** Cuts the connection. */
  cut(): void {
    this.#channel?.close('cut');
  }
}

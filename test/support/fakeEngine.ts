import type { Engine } from '../../extension/src/engine.ts';
import { UserError } from '../../protocol/src/errors.ts';

type Answer = (params: never) => unknown;

/** An engine that answers from a table and keeps what it was asked. Events are sent by `tell`. */
export class FakeEngine {
  readonly calls: { method: string; params: unknown }[] = [];
  readonly answers: Record<string, Answer>;
  readonly #listeners = new Map<string, Set<(params: unknown) => void>>();

  constructor(answers: Record<string, Answer> = {}) {
    this.answers = answers;
  }

  get engine(): Engine {
    return this as unknown as Engine;
  }

  async call(method: string, params: never): Promise<unknown> {
    this.calls.push({ method, params });
    const answer = this.answers[method];
    if (!answer) throw new UserError('internal', `The test gives no answer to ${method}`);
    return answer(params);
  }

  on(method: string, listener: (params: unknown) => void): { dispose(): void } {
    const listeners = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, listeners.add(listener));
    return { dispose: () => void listeners.delete(listener) };
  }

  tell(method: string, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) listener(params);
  }

  /** The parameters of the calls of one method. */
  asked(method: string): unknown[] {
    return this.calls.filter((each) => each.method === method).map((each) => each.params);
  }
}

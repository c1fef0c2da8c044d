import { ProviderServer, type ScriptedTurn, type SeenRequest, type WireFormat } from './providers/script.ts';

/** A model on loopback that is told its next turns as a test goes along. */
export class ScriptedModel {
  readonly server: ProviderServer;
  readonly #turns: ScriptedTurn[] = [];

  constructor(format: WireFormat) {
    this.server = new ProviderServer(format, () => this.#turns.shift());
  }

  /** What it answers to the next requests, in this order. */
  will(...turns: readonly ScriptedTurn[]): void {
    this.#turns.push(...turns);
  }

  /** Drops the turns that nobody asked for. */
  forget(): void {
    this.#turns.length = 0;
  }

  /** Turns that nobody has asked for yet. */
  get left(): number {
    return this.#turns.length;
  }

  get lastRequest(): SeenRequest | undefined {
    return this.server.seen.at(-1);
  }

  /** Every request, for the list of models too. */
  get requests(): readonly SeenRequest[] {
    return [...this.server.listed, ...this.server.seen];
  }
}

/** A promise with what resolves it: holds a stream in its middle. */
export function held(): { readonly until: Promise<void>; readonly release: () => void } {
  let release = (): void => undefined;
  const until = new Promise<void>((resolve) => (release = resolve));
  return { until, release: () => release() };
}

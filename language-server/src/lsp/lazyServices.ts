import type { Connections } from '../agent/providers/connections.ts';
import type { EngineServices } from '../services.ts';

/**
 * Starts the services at the first request that needs them: a window that only edits manifests opens no database and
 * starts no runner. Trust and connections are remembered until then. A start that failed is tried again by the next request.
 */
export class LazyServices {
  readonly #start: (trusted: boolean) => Promise<EngineServices>;
  #isTrusted: boolean;
  #connections: Connections | undefined;
  #started: Promise<EngineServices> | undefined;
  #running: EngineServices | undefined;
  #isDisposed = false;

  constructor(start: (trusted: boolean) => Promise<EngineServices>, isTrusted: boolean) {
    this.#start = start;
    this.#isTrusted = isTrusted;
  }

  get(): Promise<EngineServices> {
    if (this.#isDisposed) return Promise.reject(new Error('The engine is ending'));
    return (this.#started ??= this.#open());
  }

  setTrusted(trusted: boolean): void {
    this.#isTrusted = trusted;
    this.#running?.setTrusted(trusted);
  }

  setConnections(connections: Connections): void {
    this.#connections = connections;
    this.#running?.setConnections(connections);
  }

  /** Services that start later look by themselves. */
  findHeld(): void {
    this.#running?.findHeld();
  }

  /** Services that start later ask the vault anyway. */
  vaultChanged(): void {
    this.#running?.vaultChanged();
  }

  /** Resolves when the services that were started have ended. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    const services = await this.#started?.catch(() => undefined);
    await services?.dispose();
  }

  async #open(): Promise<EngineServices> {
    const trustedAtStart = this.#isTrusted;
    try {
      const services = await this.#start(trustedAtStart);
      this.#running = services;
      if (this.#isTrusted !== trustedAtStart) services.setTrusted(this.#isTrusted);
      if (this.#connections) services.setConnections(this.#connections);
      services.findHeld();
      return services;
    } catch (error) {
      this.#started = undefined;
      throw error;
    }
  }
}

import { BridgeError } from '../../../protocol/src/bridge.ts';
import { pluginLimits } from '../../../protocol/src/plugin.ts';
import type { PluginIdentity } from './rights.ts';
import { pluginMessages } from './pluginMessages.ts';
import type { PluginThread } from './pluginThread.ts';

/** A plugin with a worker of its own. */
export interface LivePlugin {
  readonly key: string;
  /** Of the code that the worker has. */
  readonly digest: string;
  /** Its rights are those of the latest call. */
  identity: PluginIdentity;
  /** Resolves when the worker has its plugin; rejects with `BridgeError`. */
  readonly thread: Promise<PluginThread>;
  /** Calls that were let in and are not over. */
  calls: number;
  /** True once its worker must not be used again. */
  isSpent: boolean;
  /** True once it was counted that it had to be stopped. */
  isStopped: boolean;
  stopTimer: () => void;
}

/** A plugin that is to be called. */
export interface WantedPlugin {
  readonly key: string;
  readonly digest: string;
  readonly identity: PluginIdentity;
  /** Starts its worker. */
  start(live: LivePlugin): Promise<PluginThread>;
}

export interface LivePluginsOptions {
  /** Workers at once. */
  readonly most: number;
  /** Calls that may wait for a worker. */
  readonly mostWaiting: number;
  /** A worker without a call ends after this long. */
  readonly idleMs: number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
}

/**
 * The plugins that have a worker: one each, at most `most` together. The one that was used longest ago makes room; where
 * all are busy, a call waits. A worker without calls costs no CPU and ends after a while.
 */
export class LivePlugins {
  readonly #options: LivePluginsOptions;
  /** In order of use, the latest last. */
  readonly #live = new Map<string, LivePlugin>();
  /** Those on their way out. */
  readonly #ending = new Set<Promise<void>>();
  readonly #waiting: (() => void)[] = [];

  constructor(options: LivePluginsOptions) {
    this.#options = options;
  }

  get size(): number {
    return this.#live.size;
  }

  /**
   * The plugin's worker with one call more: its own where it runs this code, else one that `start` makes once there is
   * room. Rejects with `too-many`, `cancelled` or what `start` throws.
   */
  async enter(wanted: WantedPlugin, signal: AbortSignal): Promise<LivePlugin> {
    for (;;) {
      const live = this.#live.get(wanted.key);
      if (live && live.digest === wanted.digest && !live.isSpent) return this.#use(live);
      if (live) await this.end(live);
      else if (this.#live.size + this.#ending.size < this.#options.most) return this.#add(wanted);
      else await this.#makeRoom(signal);
      if (!signal.aborted) continue;
      // What woke this one up is for the next.
      this.#waiting.shift()?.();
      throw new BridgeError('cancelled', pluginMessages.cancelled());
    }
  }

  /** A call of it is over. */
  leave(live: LivePlugin): void {
    live.calls--;
    if (live.calls > 0) return;
    if (!live.isSpent)
      live.stopTimer = this.#options.setTimer(() => void this.end(live), this.#options.idleMs);
    this.#waiting.shift()?.();
  }

  /** Ends a plugin's worker; its calls end with it. Resolves when it is gone. */
  async end(live: LivePlugin): Promise<void> {
    live.isSpent = true;
    live.stopTimer();
    if (this.#live.get(live.key) === live) this.#live.delete(live.key);
    const ending = live.thread.then((thread) => thread.end()).catch(() => undefined);
    this.#ending.add(ending);
    await ending;
    this.#ending.delete(ending);
    this.#waiting.shift()?.();
  }

  /** Ends those that `isMeant`. Resolves when they are gone. */
  async endAll(isMeant: (live: LivePlugin) => boolean): Promise<void> {
    await Promise.all([...this.#live.values()].filter(isMeant).map((live) => this.end(live)));
  }

  #use(live: LivePlugin): LivePlugin {
    if (live.calls >= pluginLimits.calls) throw new BridgeError('too-many', pluginMessages.busy());
    // The latest used comes last.
    this.#live.delete(live.key);
    this.#live.set(live.key, live);
    live.stopTimer();
    live.calls++;
    return live;
  }

  #add(wanted: WantedPlugin): LivePlugin {
    const { key, digest, identity } = wanted;
    const live: LivePlugin = {
      key,
      digest,
      identity,
      thread: Promise.resolve().then(() => wanted.start(live)),
      calls: 1,
      isSpent: false,
      isStopped: false,
      stopTimer: () => undefined,
    };
    // However it ends, it is not used again.
    void live.thread
      .then((thread) => thread.gone)
      .catch(() => undefined)
      .then(() => this.end(live));
    this.#live.set(key, live);
    return live;
  }

  async #makeRoom(signal: AbortSignal): Promise<void> {
    const idle = [...this.#live.values()].find(({ calls }) => calls === 0);
    if (idle) await this.end(idle);
    else if (this.#ending.size > 0) await Promise.race(this.#ending);
    else await this.#wait(signal);
  }

  #wait(signal: AbortSignal): Promise<void> {
    if (this.#waiting.length >= this.#options.mostWaiting)
      throw new BridgeError('too-many', pluginMessages.busy());
    return new Promise((resolve) => {
      const go = (): void => {
        signal.removeEventListener('abort', giveUp);
        resolve();
      };
      const giveUp = (): void => {
        const at = this.#waiting.indexOf(go);
        if (at !== -1) this.#waiting.splice(at, 1);
        go();
      };
      this.#waiting.push(go);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }
}

import * as z from 'zod/mini';
import { checkKey } from './keyText.ts';
import { createScrubber, type Scrubber } from './scrubber.ts';

/** The part of VS Code's `SecretStorage` that keys need. */
export interface Secrets {
  get(name: string): PromiseLike<string | undefined>;
  store(name: string, value: string): PromiseLike<void>;
  delete(name: string): PromiseLike<void>;
}

/**
 * `lost`: the storage throws or does not answer, as a locked keyring does. `other-origin`: it was saved for another
 * address and has been dropped.
 */
export type KeyState = 'saved' | 'for-this-window' | 'none' | 'lost' | 'other-origin';

/** A header that carries the key, and what takes the key out of everything that comes back. */
export interface Authorization {
  readonly headers: Readonly<Record<string, string>>;
  readonly scrubber: Scrubber;
}

/** How a wire format carries its key. */
export interface KeyHeader {
  readonly name: string;
  readonly prefix: string;
}

const kept = z.strictObject({ origin: z.string(), key: z.string() });
type Kept = z.infer<typeof kept>;

export interface KeyVaultOptions {
  readonly secrets: Secrets;
  /** Milliseconds until a storage that does not answer counts as lost. */
  readonly timeoutMs: number;
}

/**
 * Keys, write-only: nothing gives one back but `authorize`, as the header of a request to the origin that it was saved
 * for. Asking for another origin drops the key.
 */
export class KeyVault {
  readonly #options: KeyVaultOptions;
  /** Keys of this window alone, where the storage is lost and a person chose so. */
  readonly #inWindow = new Map<string, Kept>();
  /** Read once: a request does not wait for the keyring. Absent: not read yet. */
  readonly #read = new Map<string, Kept | undefined>();

  constructor(options: KeyVaultOptions) {
    this.#options = options;
  }

  /** Keeps a checked key. False where the storage is lost: nothing was kept. Throws for a text that is no key. */
  async save(id: string, origin: string, text: string): Promise<boolean> {
    const value = toKept(origin, text);
    try {
      await this.#inTime(this.#options.secrets.store(secretName(id), JSON.stringify(value)));
    } catch {
      return false;
    }
    this.#inWindow.delete(id);
    this.#read.set(id, value);
    return true;
  }

  /** Keeps a key until the window closes, and nowhere else. */
  keepForThisWindow(id: string, origin: string, text: string): void {
    this.#inWindow.set(id, toKept(origin, text));
  }

  async state(id: string, origin: string): Promise<KeyState> {
    const found = await this.#find(id, origin);
    return typeof found === 'string' ? found : found.isInWindow ? 'for-this-window' : 'saved';
  }

  /** Forgets the key. False where the storage is lost, so that it may still be there. */
  async drop(id: string): Promise<boolean> {
    this.#inWindow.delete(id);
    this.#read.set(id, undefined);
    try {
      await this.#inTime(this.#options.secrets.delete(secretName(id)));
      return true;
    } catch {
      return false;
    }
  }

  /** Another window may have changed it: the next use reads it again. */
  forgetRead(): void {
    this.#read.clear();
  }

  /** The header for a request to exactly this origin, or why there is none. */
  async authorize(
    id: string,
    origin: string,
    header: KeyHeader,
  ): Promise<Authorization | Exclude<KeyState, 'saved' | 'for-this-window'>> {
    const found = await this.#find(id, origin);
    if (typeof found === 'string') return found;
    return {
      headers: { [header.name]: header.prefix + found.key },
      scrubber: createScrubber(found.key),
    };
  }

  async #find(
    id: string,
    origin: string,
  ): Promise<{ key: string; isInWindow: boolean } | 'none' | 'lost' | 'other-origin'> {
    let found: Kept | undefined;
    try {
      found = this.#inWindow.get(id) ?? (await this.#load(id));
    } catch {
      return 'lost';
    }
    if (!found) return 'none';
    if (found.origin !== origin) {
      await this.drop(id);
      return 'other-origin';
    }
    return { key: found.key, isInWindow: this.#inWindow.has(id) };
  }

  async #load(id: string): Promise<Kept | undefined> {
    if (this.#read.has(id)) return this.#read.get(id);
    const text = await this.#inTime(this.#options.secrets.get(secretName(id)));
    const parsed = text === undefined ? undefined : z.safeParse(kept, parseJson(text));
    const value = parsed?.success && 'key' in checkKey(parsed.data.key) ? parsed.data : undefined;
    this.#read.set(id, value);
    return value;
  }

  async #inTime<T>(work: PromiseLike<T>): Promise<T> {
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(
        () => reject(new Error('The secret storage does not answer')),
        this.#options.timeoutMs,
      );
    });
    try {
      return await Promise.race([work, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}

function secretName(id: string): string {
  return `sallyport.key.${id}`;
}

function toKept(origin: string, text: string): Kept {
  const checked = checkKey(text);
  if ('problem' in checked) throw new Error(`Not a key: ${checked.problem}`);
  return { origin, key: checked.key };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

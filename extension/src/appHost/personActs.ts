import { Buffer } from 'node:buffer';
import { bridgeRefusal, bridgeValue, type BridgeErrorCode } from '../../../protocol/src/bridge.ts';

/** What only a person's window can do for an app. Each asks the person, by VS Code's own means. */
export interface PersonWindow {
  /** Shows the whole address. False where the person did not open it. */
  openLink(app: string, url: URL): Promise<boolean>;
  /** Lets the person choose a place. False where they chose none. */
  save(app: string, name: string, bytes: Uint8Array): Promise<boolean>;
}

const mostBytes = 2 * 1024 * 1024;
/** After a no, an app is not heard for this long. */
const pauseMs = 10_000;
const asksPerMinute = 10;

/**
 * `link.open` and `download.save` of one app: checked here again, whatever the shell let through, and one question at a
 * time. Answers with the JSON text of a `bridgeAnswer`; undefined for a method that is not a person's.
 */
export class PersonActs {
  readonly #app: string;
  readonly #window: PersonWindow;
  readonly #now: () => number;
  #isAsking = false;
  #quietUntil = -Infinity;
  #asked: number[] = [];

  constructor(app: string, window: PersonWindow, now: () => number) {
    this.#app = app;
    this.#window = window;
    this.#now = now;
  }

  answer(method: string, params: string): Promise<string> | undefined {
    if (method === 'link.open') return this.#ask(() => this.#openLink(params));
    if (method === 'download.save') return this.#ask(() => this.#save(params));
    return undefined;
  }

  async #ask(act: () => Promise<Outcome>): Promise<string> {
    const now = this.#now();
    this.#asked = this.#asked.filter((at) => now - at < 60_000);
    if (this.#isAsking || now < this.#quietUntil || this.#asked.length >= asksPerMinute) {
      return bridgeRefusal('declined', 'The person is being asked something else, or just said no');
    }
    this.#isAsking = true;
    try {
      const outcome = await act();
      if ('code' in outcome) return bridgeRefusal(outcome.code, outcome.message);
      if (!outcome.agreed) this.#quietUntil = this.#now() + pauseMs;
      return bridgeValue(outcome.value);
    } catch {
      return bridgeRefusal('internal', 'It could not be done');
    } finally {
      this.#isAsking = false;
    }
  }

  async #openLink(params: string): Promise<Outcome> {
    const url = parseLink(params);
    if (!url) return refusal('bad-params', 'Only an http: or https: address can be opened');
    this.#asked.push(this.#now());
    const opened = await this.#window.openLink(this.#app, url);
    return { agreed: opened, value: { opened } };
  }

  async #save(params: string): Promise<Outcome> {
    const file = parseFile(params);
    if (!file) return refusal('bad-params', 'This is no file that can be saved');
    if (file.bytes.length > mostBytes) return refusal('too-large', `A file has at most ${mostBytes} bytes`);
    this.#asked.push(this.#now());
    const saved = await this.#window.save(this.#app, file.name, file.bytes);
    return { agreed: saved, value: { saved } };
  }
}

type Outcome =
  | { readonly agreed: boolean; readonly value: unknown }
  | { readonly code: BridgeErrorCode; readonly message: string };

function refusal(code: BridgeErrorCode, message: string): Outcome {
  return { code, message };
}

function parseLink(params: string): URL | undefined {
  const { url, ...rest } = record(params);
  if (typeof url !== 'string' || Object.keys(rest).length > 0 || url.length > 2000) return undefined;
  const parsed = URL.parse(url);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol)) return undefined;
  return parsed.username === '' && parsed.password === '' && parsed.hostname !== '' ? parsed : undefined;
}

function parseFile(params: string): { name: string; bytes: Uint8Array } | undefined {
  const { name, content, encoding, ...rest } = record(params);
  if (typeof name !== 'string' || typeof content !== 'string' || Object.keys(rest).length > 0)
    return undefined;
  const fileName = toFileName(name);
  if (fileName === undefined) return undefined;
  if (encoding === 'text') return { name: fileName, bytes: Buffer.from(content, 'utf8') };
  if (encoding !== 'base64') return undefined;
  const bytes = Buffer.from(content, 'base64');
  return bytes.toString('base64') === content ? { name: fileName, bytes } : undefined;
}

/** One plain component: no folder, no hidden file, nothing that a file system would read as another name. */
function toFileName(name: string): string | undefined {
  if (name.length > 100 || /[/\\:*?"<>|\p{C}]/u.test(name)) return undefined;
  const plain = name.replace(/^[.\s]+|[.\s]+$/gu, '');
  return plain === '' || /^(?:con|prn|aux|nul|com\d|lpt\d)(?:\.|$)/i.test(plain) ? undefined : plain;
}

function record(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? { ...(value as Record<string, unknown>) }
      : {};
  } catch {
    return {};
  }
}

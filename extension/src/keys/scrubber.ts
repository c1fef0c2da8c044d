import { Buffer } from 'node:buffer';

/** Takes a key out of what comes back, so that no text, log or model sees it, whatever a server echoes. */
export interface Scrubber {
  text(value: string): string;
  /** A pass over a stream of bytes: a key that is cut by a chunk's end is found too. */
  stream(): ByteScrubber;
}

export interface ByteScrubber {
  /** The bytes that are sure; up to one pattern's length is held back. */
  push(chunk: Uint8Array): Uint8Array;
  /** What was held back. */
  end(): Uint8Array;
}

const mark = '[key removed]';
/** Shorter texts are words such as `none` that local servers take for a key: no secrets, and part of many answers. */
const shortestSecret = 12;

/** Finds the key as it is, in hexadecimal, percent-encoded, reversed, and in Base64 at each of its three places. */
export function createScrubber(key: string | undefined): Scrubber {
  const patterns = key === undefined || key.length < shortestSecret ? [] : spellings(key);
  return {
    text: (value) => replaceAll(value, patterns),
    stream: () => new Pass(patterns),
  };
}

class Pass implements ByteScrubber {
  readonly #patterns: readonly string[];
  readonly #longest: number;
  #held = '';

  constructor(patterns: readonly string[]) {
    this.#patterns = patterns;
    this.#longest = Math.max(0, ...patterns.map((each) => each.length));
  }

  push(chunk: Uint8Array): Uint8Array {
    if (this.#patterns.length === 0) return chunk;
    const text = replaceAll(this.#held + latin1(chunk), this.#patterns);
    const keep = this.#openEnd(text);
    this.#held = text.slice(text.length - keep);
    return Buffer.from(text.slice(0, text.length - keep), 'latin1');
  }

  end(): Uint8Array {
    const rest = this.#held;
    this.#held = '';
    return Buffer.from(rest, 'latin1');
  }

  /** Length of the longest end of the text that may be the beginning of a pattern. */
  #openEnd(text: string): number {
    for (let length = Math.min(this.#longest - 1, text.length); length > 0; length--) {
      const end = text.slice(text.length - length);
      if (this.#patterns.some((pattern) => pattern.startsWith(end))) return length;
    }
    return 0;
  }
}

function replaceAll(text: string, patterns: readonly string[]): string {
  let result = text;
  for (const pattern of patterns) if (result.includes(pattern)) result = result.replaceAll(pattern, mark);
  return result;
}

/** Longest first, so that a spelling inside another does not hide it. */
function spellings(key: string): string[] {
  const bytes = Buffer.from(key, 'latin1');
  const hex = bytes.toString('hex');
  const percent = [...bytes].map((byte) => `%${byte.toString(16).padStart(2, '0')}`).join('');
  const found = new Set([
    key,
    Buffer.from(bytes).reverse().toString('latin1'),
    JSON.stringify(key).slice(1, -1),
    encodeURIComponent(key),
    encodeURIComponent(key).replace(/%../g, (code) => code.toLowerCase()),
    percent,
    percent.toUpperCase(),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((offset) => {
      const core = base64Core(bytes, offset);
      return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
    }),
  ]);
  return [...found].filter((each) => each.length >= shortestSecret).sort((a, b) => b.length - a.length);
}

/** The characters of Base64 (RFC 4648) that depend on the key alone where it starts `offset` bytes into a group. */
function base64Core(bytes: Buffer, offset: number): string {
  const padded = Buffer.concat([Buffer.alloc(offset), bytes]);
  const from = Math.ceil((offset * 8) / 6);
  const to = Math.floor((padded.length * 8) / 6);
  return padded.toString('base64').slice(from, to);
}

function latin1(chunk: Uint8Array): string {
  return Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
}

import { shortestValue, spellingsOf } from './spellings.ts';

/** What stands in the place of a value. */
export const removedMark = '[vault value removed]';

/** Takes values out of texts and streams, in all their spellings (`spellings.ts`). Holds copies of the values. */
export interface Scrubber {
  /** True where nothing is looked for, so that nothing has to pass. */
  readonly isEmpty: boolean;
  text(value: string): string;
  bytes(value: Uint8Array): Uint8Array;
  /** True where one of the values is in there. */
  finds(value: Uint8Array): boolean;
  /** A pass over a stream: a value that is cut by the end of a chunk is found too. */
  stream(): ScrubbedStream;
}

export interface ScrubbedStream {
  /** True as soon as a whole value went by. */
  readonly hasFound: boolean;
  /** The bytes that are sure. What may be the beginning of a value is held back. */
  push(chunk: Uint8Array): Uint8Array;
  /**
   * What is held back although it is too little to tell (fewer than four bytes), for writers that have paused: a prompt
   * must not wait for the next output. What it was the beginning of is still found. Longer beginnings stay.
   */
  idle(): Uint8Array;
  /** All that was held back. */
  end(): Uint8Array;
}

/**
 * A scrubber for these values. Line breaks and escape sequences of terminals between the bytes of a value do not hide
 * it. Values shorter than `shortestValue` are not looked for (`tooShort` names them). `mark` takes their place.
 */
export function createScrubber(values: readonly string[], mark: string = removedMark): Scrubber {
  const patterns = createPatterns(values.flatMap(spellingsOf));
  const markBytes = new TextEncoder().encode(mark);
  const bytes = (value: Uint8Array): Uint8Array => {
    if (patterns.isEmpty) return value;
    const found = scan(value, patterns, true);
    return found.spans.length === 0 ? value : replace(value, found.spans, 0, value.length, markBytes);
  };
  return {
    isEmpty: patterns.isEmpty,
    bytes,
    text(value) {
      if (patterns.isEmpty || value.length < shortestValue) return value;
      const before = new TextEncoder().encode(value);
      const after = bytes(before);
      return after === before ? value : new TextDecoder('utf-8', { fatal: false }).decode(after);
    },
    finds: (value) => !patterns.isEmpty && scan(value, patterns, true).spans.length > 0,
    stream: () => (patterns.isEmpty ? unchanged : new Pass(patterns, markBytes)),
  };
}

/** The values that are too short to be looked for. */
export function tooShort(values: readonly string[]): string[] {
  return values.filter((value) => spellingsOf(value).length === 0);
}

const nothing = new Uint8Array(0);
const unchanged: ScrubbedStream = {
  hasFound: false,
  push: (chunk) => chunk,
  idle: () => nothing,
  end: () => nothing,
};

class Pass implements ScrubbedStream {
  hasFound = false;
  readonly #patterns: Patterns;
  readonly #mark: Uint8Array;
  #held: Uint8Array = nothing;
  /** How much of what is held was given out by `idle`: it is kept so that what follows is still recognised. */
  #given = 0;
  #isShort = false;

  constructor(patterns: Patterns, mark: Uint8Array) {
    this.#patterns = patterns;
    this.#mark = mark;
  }

  push(chunk: Uint8Array): Uint8Array {
    if (chunk.length === 0) return chunk;
    const all = this.#held.length === 0 ? chunk : join([this.#held, chunk]);
    const { spans, holdFrom, isShort, hasFound } = scan(all, this.#patterns, false);
    this.hasFound ||= hasFound;
    const given = this.#given;
    this.#isShort = isShort;
    // A copy: the chunk is the caller's.
    this.#held = all.slice(holdFrom);
    this.#given = Math.max(0, given - holdFrom);
    return holdFrom === all.length && spans.length === 0 && given === 0
      ? all
      : replace(all, spans, given, holdFrom, this.#mark);
  }

  idle(): Uint8Array {
    if (!this.#isShort) return nothing;
    const rest = this.#held.subarray(this.#given);
    this.#given = this.#held.length;
    return rest;
  }

  end(): Uint8Array {
    const { spans } = scan(this.#held, this.#patterns, true);
    const rest = replace(this.#held, spans, this.#given, this.#held.length, this.#mark);
    this.#held = nothing;
    this.#given = 0;
    return rest;
  }
}

/** Beginnings are told apart by their first four bytes, packed into one number. */
interface Patterns {
  readonly isEmpty: boolean;
  /** Which hashes of four bytes begin a pattern; most positions are settled by this alone. */
  readonly filter: Uint8Array;
  readonly byStart: ReadonlyMap<number, readonly Uint8Array[]>;
  /** The first one, two and three bytes of the patterns. */
  readonly beginnings: ReadonlySet<number>;
}

const filterBits = 18;

function createPatterns(spellings: readonly Uint8Array[]): Patterns {
  const filter = new Uint8Array(2 ** filterBits);
  const byStart = new Map<number, Uint8Array[]>();
  const beginnings = new Set<number>();
  for (const spelling of spellings) {
    let window = 0;
    for (let at = 0; at < 4; at++) {
      window = (window << 8) | (spelling[at] ?? 0);
      if (at < 3) beginnings.add(beginning(window, at + 1));
    }
    filter[hashOf(window)] = 1;
    const same = byStart.get(window);
    if (same) same.push(spelling);
    else byStart.set(window, [spelling]);
  }
  return { isEmpty: spellings.length === 0, filter, byStart, beginnings };
}

function hashOf(window: number): number {
  return Math.imul(window, 0x9e3779b1) >>> (32 - filterBits);
}

/** The last `length` bytes of a window, and that length, as one number. */
function beginning(window: number, length: number): number {
  return length * 2 ** 24 + (window & (2 ** (8 * length) - 1));
}

interface Scan {
  /** Where values are, from and to in turn, in order and apart from each other. */
  readonly spans: readonly number[];
  /** From here on more must be seen first. */
  readonly holdFrom: number;
  /** What is held is fewer than four bytes of any value. */
  readonly isShort: boolean;
  /** A whole value is there, if only in what is held. */
  readonly hasFound: boolean;
}

/** Finds all values, also ones within and across each other. `isWhole`: nothing comes after these bytes. */
function scan(bytes: Uint8Array, patterns: Patterns, isWhole: boolean): Scan {
  const { filter, byStart } = patterns;
  const { length } = bytes;
  const spans: number[] = [];
  let from = 0;
  let to = 0;
  let openFrom = length;
  // The last four bytes that count, and where each of them is.
  let window = 0;
  let first = -1;
  let second = -1;
  let third = -1;
  let fourth = -1;
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    // Without a branch on the byte's size, which a processor guesses wrong all the time where bytes are random.
    if (((skippedBytes >>> byte) & ((byte - 32) >>> 31)) !== 0) {
      if (byte !== escape) continue;
      const end = escapeEnd(bytes, at);
      if (end > length) {
        if (!isWhole) openFrom = Math.min(openFrom, at);
        break;
      }
      if (end > at) {
        at = end - 1;
        continue;
      }
    }
    first = second;
    second = third;
    third = fourth;
    fourth = at;
    window = (window << 8) | byte;
    if (filter[Math.imul(window, 0x9e3779b1) >>> (32 - filterBits)] === 0 || first < 0) continue;
    for (const pattern of byStart.get(window) ?? []) {
      const end = matchEnd(bytes, at + 1, pattern);
      if (end > length) openFrom = Math.min(openFrom, first);
      else if (end > 0) {
        if (first >= to || to === 0) {
          if (to > 0) spans.push(from, to);
          from = first;
        }
        to = Math.max(to, end);
      }
    }
  }
  if (to > 0) spans.push(from, to);
  if (isWhole) return { spans, holdFrom: length, isShort: false, hasFound: to > 0 };
  let holdFrom = openFrom;
  const places = [fourth, third, second];
  for (let size = 3; size > 0; size--) {
    const place = places[size - 1] ?? -1;
    if (place < 0 || !patterns.beginnings.has(beginning(window, size))) continue;
    holdFrom = Math.min(holdFrom, place);
    break;
  }
  let isShort = openFrom === length && holdFrom < length;
  // A value that may go on past what is held is held whole, so that its two parts get one mark.
  if (to > holdFrom) {
    spans.length -= 2;
    holdFrom = from;
    isShort = false;
  }
  return { spans, holdFrom, isShort, hasFound: to > 0 };
}

/** Where the rest of a pattern (from its fifth byte) ends; 0 where it is another text; beyond the end where bytes lack. */
function matchEnd(bytes: Uint8Array, start: number, pattern: Uint8Array): number {
  let at = start;
  for (let index = 4; index < pattern.length; at++) {
    if (at >= bytes.length) return bytes.length + 1;
    const byte = bytes[at];
    if (byte === pattern[index]) {
      index++;
      continue;
    }
    if (byte === 10 || byte === 13) continue;
    if (byte !== escape) return 0;
    const end = escapeEnd(bytes, at);
    if (end === at) return 0;
    at = end - 1;
  }
  return at;
}

const escape = 27;
/** A bit for each byte below 32 that does not hide a value: line feed, carriage return, and what begins an escape sequence. */
const skippedBytes = (1 << 10) | (1 << 13) | (1 << escape);
/** Longer ones are taken for text: a sequence must not hide what follows for ever. */
const longestEscape = 256;

/**
 * Where an escape sequence (ECMA-48: CSI, the strings OSC, DCS, APC, PM, SOS, and two- or three-byte ones) that begins
 * at `start` ends; `start` itself where it is none; beyond the end of the bytes where they end within it.
 */
function escapeEnd(bytes: Uint8Array, start: number): number {
  const limit = Math.min(bytes.length, start + longestEscape);
  const unended = limit === bytes.length && limit < start + longestEscape ? bytes.length + 1 : start;
  const kind = bytes[start + 1];
  if (kind === undefined) return unended;
  if (kind === 0x5b) {
    for (let at = start + 2; at < limit; at++) {
      const byte = bytes[at] as number;
      if (byte >= 0x40 && byte <= 0x7e) return at + 1;
      if (byte < 0x20 || byte > 0x7e) return start;
    }
    return unended;
  }
  if (kind === 0x5d || kind === 0x50 || kind === 0x5f || kind === 0x5e || kind === 0x58) {
    for (let at = start + 2; at < limit; at++) {
      if (bytes[at] === 7) return at + 1;
      if (bytes[at] === escape) return at + 1 < bytes.length ? at + 2 : unended;
    }
    return unended;
  }
  if (kind >= 0x20 && kind <= 0x2f) return start + 2 < bytes.length ? start + 3 : unended;
  return kind >= 0x30 && kind <= 0x7e ? start + 2 : start;
}

/** The bytes from `start` to `end` with a mark for each span that begins before `end`. */
function replace(
  bytes: Uint8Array,
  spans: readonly number[],
  start: number,
  end: number,
  mark: Uint8Array,
): Uint8Array {
  const parts: Uint8Array[] = [];
  let at = start;
  for (let index = 0; index < spans.length; index += 2) {
    parts.push(bytes.subarray(at, Math.max(at, spans[index] ?? at)), mark);
    at = Math.max(at, spans[index + 1] ?? end);
  }
  if (at < end) parts.push(bytes.subarray(at, end));
  return parts.length === 1 && parts[0] ? parts[0] : join(parts);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

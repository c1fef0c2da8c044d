import type { Json } from './canonicalJson.ts';

/** Why a value was not taken, in words that hold none of it. */
export class NotPlain extends Error {
  override readonly name = 'NotPlain';
}

/**
 * Copies a value from a stranger into one that only JSON can carry: objects without a prototype, numbers that are
 * finite, at most `depth` levels. Throws `NotPlain` for anything else. A name such as `__proto__` is an ordinary key.
 */
export function toPlainJson(value: unknown, depth: number): Json {
  if (value === null || typeof value === 'boolean' || typeof value === 'string') return value;
  if (typeof value === 'number') {
    if (!Number.isFinite(value)) throw new NotPlain('A number is not finite');
    return value;
  }
  if (typeof value !== 'object') throw new NotPlain(`A value is a ${typeof value}, which JSON has not`);
  if (depth <= 0) throw new NotPlain('It is nested too deep');
  if (Array.isArray(value)) return value.map((item) => toPlainJson(item, depth - 1));
  const copy: Record<string, Json> = Object.create(null) as Record<string, Json>;
  for (const [key, member] of Object.entries(value))
    if (member !== undefined) copy[key] = toPlainJson(member, depth - 1);
  return copy;
}

/** Parses JSON text from a stranger into what `toPlainJson` gives. Throws `NotPlain`. Linear in the text. */
export function parsePlainJson(text: string, depth: number): Json {
  if (isDeeper(text, depth)) throw new NotPlain('It is nested too deep');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new NotPlain('It is no JSON');
  }
  return toPlainJson(value, depth);
}

/** True where more brackets are open at once than `depth`: looked at before the parser meets them. */
function isDeeper(text: string, depth: number): boolean {
  let open = 0;
  let isString = false;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if (isString) {
      if (unit === 0x5c) at++;
      else if (unit === 0x22) isString = false;
    } else if (unit === 0x22) isString = true;
    else if (unit === 0x5b || unit === 0x7b) {
      if (++open > depth) return true;
    } else if (unit === 0x5d || unit === 0x7d) open--;
  }
  return false;
}

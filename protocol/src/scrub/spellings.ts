/** The shortest value that is looked for: a shorter one would blot out ordinary text (docs/vault.md, Using values). */
export const shortestValue = 6;
/** The shortest line of a value with several lines that is looked for by itself. */
const shortestLine = 8;

/**
 * Every spelling in which a value is looked for, as bytes without line breaks, each once: as it is, in JSON, URIs,
 * forms, HTML and shell words, in Base64 and base64url at each of its three places in a group, in hexadecimal,
 * reversed, in UTF-16, and each line of a value with several lines in all of these. Empty where the value has fewer than
 * `shortestValue` characters.
 */
export function spellingsOf(value: string): Uint8Array[] {
  if (Array.from(value.trim()).length < shortestValue) return [];
  const lines = value.split(/[\r\n]+/).map((line) => line.trim());
  const parts = lines.length > 1 ? lines.filter((line) => line.length >= shortestLine) : [];
  const found = new Map<string, Uint8Array>();
  for (const part of [value, value.trim(), ...parts]) {
    for (const spelling of spell(part)) {
      const bytes = spelling.filter((byte) => byte !== 10 && byte !== 13);
      if (bytes.length >= shortestValue) found.set(bytes.join(), bytes);
    }
  }
  return [...found.values()];
}

function spell(value: string): Uint8Array[] {
  const wellFormed = value.toWellFormed();
  const bytes = utf8(wellFormed);
  const json = JSON.stringify(wellFormed).slice(1, -1);
  const uri = encodeURIComponent(wellFormed);
  // RFC 3986 reserves these too; forms (WHATWG URL) encode all of them but the star, and the tilde.
  const strict = uri.replaceAll(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
  const hex = hexOf(bytes);
  const percent = hex.replaceAll(/../g, '%$&');
  const html = wellFormed.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const texts = [
    wellFormed,
    Array.from(wellFormed).reverse().join(''),
    json,
    json.replaceAll('/', '\\/'),
    escapeAbove(json),
    uri,
    uri.replaceAll(/%../g, (code) => code.toLowerCase()),
    uri.replaceAll('%20', '+'),
    strict,
    strict.replaceAll('%20', '+'),
    strict.replaceAll('%2A', '*').replaceAll('%20', '+').replaceAll('~', '%7E'),
    percent,
    percent.toUpperCase(),
    ...['&#39;', '&#x27;', '&apos;', "'"].flatMap((apostrophe) =>
      ['&quot;', '&#34;', '"'].map((quote) => html.replaceAll('"', quote).replaceAll("'", apostrophe)),
    ),
    wellFormed.replaceAll("'", `'\\''`),
    hex,
    hex.toUpperCase(),
    ...[0, 1, 2].flatMap((place) => {
      const core = base64Core(bytes, place);
      return [core, core.replaceAll('+', '-').replaceAll('/', '_')];
    }),
  ];
  return [...texts.map(utf8), utf16(wellFormed)];
}

function utf8(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function utf16(text: string): Uint8Array {
  const bytes = new Uint8Array(text.length * 2);
  for (let at = 0; at < text.length; at++) {
    bytes[2 * at] = text.charCodeAt(at) & 0xff;
    bytes[2 * at + 1] = text.charCodeAt(at) >> 8;
  }
  return bytes;
}

/** JSON as writers have it that keep to ASCII. */
function escapeAbove(json: string): string {
  return json.replaceAll(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function hexOf(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';

/** The characters of Base64 (RFC 4648 §4) that depend on the bytes alone where they begin `place` bytes into a group. */
function base64Core(bytes: Uint8Array, place: number): string {
  const padded = new Uint8Array(place + bytes.length);
  padded.set(bytes, place);
  const first = Math.ceil((place * 8) / 6);
  const last = Math.floor((padded.length * 8) / 6);
  let text = '';
  for (let at = first; at < last; at++) {
    const bit = at * 6;
    const pair = ((padded[bit >> 3] ?? 0) << 8) | (padded[(bit >> 3) + 1] ?? 0);
    text += alphabet[(pair >> (10 - (bit & 7))) & 63] ?? '';
  }
  return text;
}

import { UserError } from '../../../protocol/src/errors.ts';
import type { PictureFormat } from '../../../protocol/src/webview.ts';

const pngSignature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
/** What would make an SVG more than a picture for whoever opens it later. Attribute values are looked at decoded. */
const activeMarkup =
  /<(?:[\w-]+:)?(?:script|foreignObject|iframe|object|embed|handler|set|animate\w*)\b|<!ENTITY|<\?xml-stylesheet|\son\w+\s*=|javascript:|(?:href|src)\s*=\s*["']?(?!#|data:image\/(?:png|jpeg|gif|webp);|["'])|@import|url\(\s*["']?(?!#|data:)/i;

/**
 * The bytes of a picture that a view drew. The frame is hostile, so the bytes must be what they claim: a PNG, or an SVG
 * that neither runs nor loads anything. Throws `bad-message`.
 */
export function pictureBytes(format: PictureFormat, base64: string): Buffer {
  const bytes = Buffer.from(base64, 'base64');
  if (format === 'png') {
    if (!bytes.subarray(0, 8).equals(pngSignature)) throw notAPicture('it is not a PNG');
    return bytes;
  }
  const text = bytes.toString('utf8');
  if (!/^\s*<svg[\s>]/.test(text)) throw notAPicture('it is not an SVG');
  const decoded = text.replace(
    /&(?:#(\d+)|#x([0-9a-f]+)|colon);/gi,
    (_all, decimal?: string, hex?: string) => {
      if (decimal !== undefined) return safeCharacter(Number(decimal));
      return hex === undefined ? ':' : safeCharacter(parseInt(hex, 16));
    },
  );
  if (activeMarkup.test(text) || activeMarkup.test(decoded.replace(/[\t\r\n]/g, ''))) {
    throw notAPicture('the SVG holds code or links');
  }
  return bytes;
}

/** A name that is one path component everywhere. */
export function pictureName(name: string, format: PictureFormat): string {
  const safe = name
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 80);
  return `${safe === '' ? 'view' : safe}.${format}`;
}

function safeCharacter(code: number): string {
  return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function notAPicture(reason: string): UserError {
  return new UserError('bad-message', `The view did not give a picture: ${reason}`, { reason });
}

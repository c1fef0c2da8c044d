/** The bytes of a base64 text. Throws `DOMException` on one that is not. */
export function bytesOfBase64(base64: string): Uint8Array<ArrayBuffer> {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let index = 0; index < binary.length; index++) bytes[index] = binary.charCodeAt(index);
  return bytes;
}

/** UTF-8 text; undefined for bytes that are not. */
export function textOfBytes(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

const signatures: readonly (readonly [string, readonly (number | undefined)[]])[] = [
  ['image/png', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ['image/jpeg', [0xff, 0xd8, 0xff]],
  ['image/gif', [0x47, 0x49, 0x46, 0x38]],
  [
    'image/webp',
    [0x52, 0x49, 0x46, 0x46, undefined, undefined, undefined, undefined, 0x57, 0x45, 0x42, 0x50],
  ],
  ['image/avif', [undefined, undefined, undefined, undefined, 0x66, 0x74, 0x79, 0x70, 0x61, 0x76, 0x69]],
];

/** The media type of an image by its first bytes; undefined for what is not shown. Names and claims are not asked. */
export function imageType(bytes: Uint8Array): string | undefined {
  for (const [type, signature] of signatures) {
    if (signature.every((byte, index) => byte === undefined || bytes[index] === byte)) return type;
  }
  const start = textOfBytes(bytes.slice(0, 1024).filter((byte) => byte < 128)) ?? '';
  return /^\s*(?:<\?xml[^>]*>\s*)?(?:<!--[^]*?-->\s*)?(?:<!DOCTYPE svg[^>]*>\s*)?<svg[\s>]/i.test(start)
    ? 'image/svg+xml'
    : undefined;
}

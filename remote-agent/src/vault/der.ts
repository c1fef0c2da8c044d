/** The few types of DER (ITU-T X.690) that a certificate is made of, each as its whole encoding. */
export const der = {
  sequence: (...parts: readonly Uint8Array[]) => encode(0x30, ...parts),
  set: (...parts: readonly Uint8Array[]) => encode(0x31, ...parts),
  /** A number that is not negative, from its big-endian bytes. */
  integer(bytes: Uint8Array): Buffer {
    let start = 0;
    while (start < bytes.length - 1 && bytes[start] === 0) start++;
    const rest = bytes.subarray(start);
    return (rest[0] ?? 0) & 0x80 ? encode(2, Buffer.of(0), rest) : encode(2, rest);
  },
  boolean: (value: boolean) => encode(1, Buffer.of(value ? 0xff : 0)),
  octets: (content: Uint8Array) => encode(4, content),
  /** A whole number of bytes, or fewer bits where `unused` says so. */
  bits: (content: Uint8Array, unused = 0) => encode(3, Buffer.of(unused), content),
  text: (value: string) => encode(12, Buffer.from(value)),
  /** `1.2.840.10045.4.3.2`. */
  oid(dotted: string): Buffer {
    const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
    return encode(6, Buffer.from([first * 40 + second, ...rest.flatMap(base128)]));
  },
  /** UTCTime up to 2049, GeneralizedTime from 2050 on (RFC 5280 §4.1.2.5). */
  time(ms: number): Buffer {
    const digits = new Date(ms).toISOString().replaceAll(/[-:T]|\.[0-9]+/g, '');
    return Number(digits.slice(0, 4)) < 2050
      ? encode(23, Buffer.from(digits.slice(2)))
      : encode(24, Buffer.from(digits));
  },
  /** Context-specific: `constructed` around whole encodings, otherwise in the place of a type's own tag. */
  tagged: (number: number, content: Uint8Array, constructed: boolean) =>
    encode(0x80 | (constructed ? 0x20 : 0) | number, content),
} as const;

function encode(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(parts);
  return Buffer.concat([Buffer.of(tag), lengthOf(content.length), content]);
}

function lengthOf(length: number): Buffer {
  if (length < 0x80) return Buffer.of(length);
  const bytes: number[] = [];
  for (let rest = length; rest > 0; rest >>>= 8) bytes.unshift(rest & 0xff);
  return Buffer.from([0x80 | bytes.length, ...bytes]);
}

function base128(value: number): number[] {
  const bytes = [value & 0x7f];
  for (let rest = value >>> 7; rest > 0; rest >>>= 7) bytes.unshift(0x80 | (rest & 0x7f));
  return bytes;
}

import { BridgeError, type FileEncoding } from '../../../../protocol/src/bridge.ts';

interface Content {
  readonly content: string;
  readonly encoding: FileEncoding;
}

/** The bytes that a message carries. Throws `bad-params` where they are not what their encoding says. */
export function toBytes({ content, encoding }: Content): Uint8Array {
  if (encoding === 'text') return Buffer.from(content);
  const bytes = Buffer.from(content, 'base64');
  if (bytes.toString('base64') !== content) throw new BridgeError('bad-params', 'The content is not base64');
  return bytes;
}

/** The bytes as a message carries them. Throws `bad-params` where text is wanted and they are not UTF-8. */
export function toContent(bytes: Uint8Array, encoding: FileEncoding): Content {
  if (encoding === 'base64') return { content: Buffer.from(bytes).toString('base64'), encoding };
  const content = decode(bytes);
  if (content === undefined)
    throw new BridgeError('bad-params', 'The file is not UTF-8 text: take its bytes');
  return { content, encoding };
}

/** As text where the bytes are UTF-8, else as base64. */
export function toAnyContent(bytes: Uint8Array): Content {
  const content = decode(bytes);
  return content === undefined ? toContent(bytes, 'base64') : { content, encoding: 'text' };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

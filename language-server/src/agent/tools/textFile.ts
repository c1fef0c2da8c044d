import { UserError } from '../../../../protocol/src/errors.ts';

/** A file as text that an edit can be matched against, with what is needed to write it back as it was. */
export interface TextFile {
  /** Without byte order mark; line breaks are LF where the file has only CRLF, else as they are. */
  readonly text: string;
  readonly hasMark: boolean;
  /** Every line break of the file is CRLF. */
  readonly isCrlf: boolean;
}

const mark = '\uFEFF';
const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Undefined where the bytes are no text: not UTF-8, or with a NUL. */
export function parseText(bytes: Uint8Array): TextFile | undefined {
  let whole: string;
  try {
    whole = utf8.decode(bytes);
  } catch {
    return undefined;
  }
  if (whole.includes('\0')) return undefined;
  const hasMark = whole.startsWith(mark);
  const text = hasMark ? whole.slice(1) : whole;
  const isCrlf = text.includes('\r\n') && !/(^|[^\r])\n|\r(?!\n)/.test(text);
  return { text: isCrlf ? text.replaceAll('\r\n', '\n') : text, hasMark, isCrlf };
}

/** `parseText`, throwing `unsafe-path` with the reason for what is no text. */
export function parseTextOf(path: string, bytes: Uint8Array): TextFile {
  const file = parseText(bytes);
  if (!file) throw new UserError('unreadable', `${path} is not UTF-8 text, so it can't be edited as text`);
  return file;
}

/** The bytes of a changed text, with the file's own mark and line breaks. New text may come with either kind. */
export function toBytes(text: string, { hasMark, isCrlf }: Omit<TextFile, 'text'>): Buffer {
  const lines = isCrlf ? text.replaceAll('\r\n', '\n').replaceAll('\n', '\r\n') : text;
  return Buffer.from((hasMark ? mark : '') + lines, 'utf8');
}

import { parseJson } from '../../protocol/src/parseJson.ts';

/** A line longer than this is no progress line, and is skipped whole. */
const lineLimit = 1024;
const textLimit = 200;

/**
 * Reads what a card writes to the descriptor in `SALLYPORT_PROGRESS`: lines of JSON `{ "fraction": 0.5, "text": "…" }`
 * in UTF-8, fraction 0 to 1, text at most 200 characters. It comes from inside the sandbox: whatever is not of that
 * form is dropped, memory is bounded by one line, and telling is left to the caller's pace.
 *
 * Returns the function that takes the bytes as they arrive.
 */
export function createProgressReader(
  tell: (fraction: number, text: string) => void,
): (bytes: Uint8Array) => void {
  const decoder = new TextDecoder();
  let line = '';
  let skipping = false;
  return (bytes) => {
    const [first = '', ...rest] = decoder.decode(bytes, { stream: true }).split('\n');
    for (const [index, part] of [first, ...rest].entries()) {
      if (index > 0) {
        const progress = skipping ? undefined : parseProgress(line);
        if (progress) tell(progress.fraction, progress.text);
        line = '';
        skipping = false;
      }
      if (line.length + part.length > lineLimit) skipping = true;
      else line += part;
    }
  };
}

function parseProgress(line: string): { fraction: number; text: string } | undefined {
  const value = parseJson(line);
  if (typeof value !== 'object' || value === null || !('fraction' in value)) return undefined;
  const { fraction } = value;
  const text = 'text' in value ? value.text : '';
  if (typeof fraction !== 'number' || !(fraction >= 0 && fraction <= 1) || typeof text !== 'string') {
    return undefined;
  }
  return { fraction, text: text.slice(0, textLimit).toWellFormed() };
}

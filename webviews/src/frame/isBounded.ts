const mostValues = 1000;

/**
 * True where a message has at most `characters` UTF-16 units of text and a thousand values, buffers and other objects
 * counted as one. It looks at no more than that, so a message of any size costs the same.
 */
export function isBounded(message: unknown, characters: number): boolean {
  let textLeft = characters;
  let valuesLeft = mostValues;
  const waiting: unknown[] = [message];
  while (waiting.length > 0) {
    const value = waiting.pop();
    if (--valuesLeft < 0) return false;
    if (typeof value === 'string') textLeft -= value.length;
    else if (Array.isArray(value)) {
      if (value.length > valuesLeft) return false;
      waiting.push(...(value as unknown[]));
    } else if (isRecord(value)) {
      for (const key in value) {
        textLeft -= key.length;
        if (textLeft < 0 || waiting.length > valuesLeft) return false;
        waiting.push(value[key]);
      }
    }
    if (textLeft < 0) return false;
  }
  return true;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && Object.getPrototypeOf(value) === Object.prototype;
}

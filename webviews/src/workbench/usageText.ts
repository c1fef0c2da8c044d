/** `850`, `12.4k`, `1.2M`. */
export function tokenText(tokens: number): string {
  if (tokens < 1000) return String(tokens);
  if (tokens < 99_950) return `${trimmed(tokens / 1000)}k`;
  if (tokens < 999_500) return `${Math.round(tokens / 1000)}k`;
  return `${trimmed(tokens / 1_000_000)}M`;
}

/** US dollars: two digits, and more below ten cents, so that a small cost is not shown as none. */
export function costText(dollars: number): string {
  if (dollars === 0 || dollars >= 0.1) return dollars.toFixed(2);
  return dollars < 0.0001 ? '<0.0001' : dollars.toFixed(4);
}

function trimmed(value: number): string {
  return value.toFixed(1).replace(/\.0$/, '');
}

/**
 * Matches one name against a shell pattern (`*`, `?`, `[a-z]`, `\x`) in time proportional to pattern times name, so that
 * no pattern can keep the engine busy.
 */
export function matchesName(pattern: string, name: string): boolean {
  let at = 0;
  let part = 0;
  let star = -1;
  let starAt = 0;
  while (at < name.length) {
    const token = tokenAt(pattern, part);
    if (token?.kind === 'star') {
      star = token.next;
      starAt = at;
      part = token.next;
    } else if (token?.matches(name[at] ?? '') === true) {
      at++;
      part = token.next;
    } else if (star >= 0) {
      starAt++;
      at = starAt;
      part = star;
    } else return false;
  }
  for (let token = tokenAt(pattern, part); token?.kind === 'star'; token = tokenAt(pattern, part))
    part = token.next;
  return part >= pattern.length;
}

type Token =
  | { readonly kind: 'star'; readonly next: number }
  | { readonly kind: 'one'; readonly next: number; readonly matches: (character: string) => boolean };

function tokenAt(pattern: string, at: number): Token | undefined {
  const character = pattern[at];
  if (character === undefined) return undefined;
  if (character === '*') return { kind: 'star', next: at + 1 };
  if (character === '?') return { kind: 'one', next: at + 1, matches: () => true };
  if (character === '\\' && at + 1 < pattern.length) return literal(pattern[at + 1] ?? '', at + 2);
  if (character === '[') {
    const end = pattern.indexOf(']', at + 2);
    if (end > 0) return { kind: 'one', next: end + 1, matches: inSet(pattern.slice(at + 1, end)) };
  }
  return literal(character, at + 1);
}

function literal(expected: string, next: number): Token {
  return { kind: 'one', next, matches: (character) => character === expected };
}

function inSet(set: string): (character: string) => boolean {
  const isNegated = /^[!^]/.test(set);
  const members = isNegated ? set.slice(1) : set;
  return (character) => {
    let isIn = false;
    for (let at = 0; at < members.length; at++) {
      const from = members[at] ?? '';
      if (members[at + 1] === '-' && at + 2 < members.length) {
        isIn ||= character >= from && character <= (members[at + 2] ?? '');
        at += 2;
      } else isIn ||= character === from;
    }
    return isIn !== isNegated;
  };
}

/**
 * Negative where `a` is older than `b`, positive where it is newer, 0 where neither (semver.org 2.0.0, §11). Both fit
 * `appVersionPattern`.
 */
export function compareVersions(a: string, b: string): number {
  const [first, second] = [parse(a), parse(b)];
  for (const [at, part] of first.numbers.entries()) {
    const difference = part - (second.numbers[at] ?? 0);
    if (difference !== 0) return difference;
  }
  return comparePre(first.pre, second.pre);
}

function parse(version: string): { readonly numbers: readonly number[]; readonly pre: string | undefined } {
  const dash = version.indexOf('-');
  const core = dash < 0 ? version : version.slice(0, dash);
  return { numbers: core.split('.').map(Number), pre: dash < 0 ? undefined : version.slice(dash + 1) };
}

function comparePre(a: string | undefined, b: string | undefined): number {
  if (a === undefined || b === undefined) return Number(a === undefined) - Number(b === undefined);
  const [first, second] = [a.split('.'), b.split('.')];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    const [x, y] = [first[at], second[at]];
    if (x === undefined || y === undefined) return x === undefined ? -1 : 1;
    const difference = compareIdentifiers(x, y);
    if (difference !== 0) return difference;
  }
  return 0;
}

function compareIdentifiers(a: string, b: string): number {
  const [isNumber, isOtherNumber] = [/^[0-9]+$/.test(a), /^[0-9]+$/.test(b)];
  if (isNumber && isOtherNumber) return Number(a) - Number(b);
  if (isNumber !== isOtherNumber) return isNumber ? -1 : 1;
  return a < b ? -1 : a > b ? 1 : 0;
}

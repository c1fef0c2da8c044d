import type { Json } from '../../../../protocol/src/canonicalJson.ts';
import type { ActDescription } from '../../gate/act.ts';

/**
 * What a person is shown of a call, with a line for each argument that its tool does not show, so that no tool can hide
 * one. Nothing is added for `false`, null and what is empty, nor for the arguments (by their first name) that the tool
 * shows as a difference to what is there.
 */
export function withEveryArgument(
  shown: ActDescription,
  args: Json,
  byDifference: readonly string[] = [],
): ActDescription {
  const text = [shown.title, ...shown.lines, shown.fullText ?? ''].join('\n');
  const missing = [...leavesOf(args, '')]
    .filter(([name, value]) => !byDifference.includes(name.split('.', 1)[0] ?? '') && !isShown(text, value))
    .map(([name, value]) => `${name}: ${value}`);
  if (missing.length === 0) return shown;
  const lines = [...shown.lines, ...missing];
  const fullText = shown.fullText === null ? null : [shown.fullText, '', ...missing].join('\n');
  return { title: shown.title, lines, fullText };
}

/** Shorter texts may stand in a prompt by chance. */
const tellingLength = 4;

function isShown(text: string, value: string): boolean {
  if (value.length < tellingLength) return standsAlone(text, value);
  return value.split('\n').every((line) => text.includes(line.replace(/\r$/, '')));
}

/** True where it stands in the text and is no part of a longer word. */
function standsAlone(text: string, value: string): boolean {
  for (let at = text.indexOf(value); at >= 0; at = text.indexOf(value, at + 1)) {
    const around = text.slice(Math.max(0, at - 1), at) + text.slice(at + value.length, at + value.length + 1);
    if (!/[\p{L}\p{N}]/u.test(around)) return true;
  }
  return false;
}

function* leavesOf(value: Json, name: string): Generator<readonly [string, string]> {
  if (value === null || value === false || value === '') return;
  if (typeof value !== 'object') {
    yield [name, String(value)];
    return;
  }
  for (const [key, each] of Object.entries(value))
    yield* leavesOf(each, name === '' ? key : `${name}.${key}`);
}

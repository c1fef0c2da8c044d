import type { Node } from 'jsonc-parser';
import { addKeyFix, removeFix, replaceFix, rewriteFix } from './edits.ts';
import { fixTitles } from '../messages.ts';
import { rangeWords } from './checkShape.ts';
import { nearest } from './nearest.ts';
import { at, itemsOf, membersOf, numberOf, spanOf, textOf, valueOf } from './nodes.ts';
import { insideParts } from './paths.ts';
import { checkPermissions } from './checkPermissions.ts';
import { problem, type Report } from './problem.ts';

/**
 * The rules of a card that its schema can't say and that need nothing but its own text. Works on what is there of a
 * broken manifest: a part with the wrong type was reported before and is passed over.
 */
export function checkCard(text: string, root: Node, report: Report): void {
  checkEntry(root, report);
  for (const { key, keyNode, value } of membersOf(at(root, 'inputs'))) {
    const optional = at(value, 'optional');
    if (value?.type !== 'object' || at(value, 'from') || (optional && valueOf(optional) === true)) continue;
    const edit = optional ? rewriteFix(spanOf(optional), 'true') : addKeyFix(text, value, 'optional', 'true');
    const fix = { ...edit, title: fixTitles.makeOptional() };
    report(problem('unwired-input', spanOf(keyNode), [key], fix));
  }
  for (const { value } of membersOf(at(root, 'params'))) if (value) checkParameter(text, value, report);
  checkView(root, report);
  const permissions = at(root, 'permissions');
  if (permissions) checkPermissions(text, permissions, report);
}

function checkEntry(root: Node, report: Report): void {
  const entry = at(root, 'entry');
  const runtime = textOf(at(root, 'runtime'));
  if (!entry || runtime === undefined) return;
  const path = textOf(entry);
  if (runtime === 'command') {
    if (path !== undefined) {
      report(problem('entry-is-text', spanOf(entry), [], rewriteFix(spanOf(entry), JSON.stringify([path]))));
    } else if (textOf(itemsOf(entry)[0]) === '')
      report(problem('too-short', spanOf(itemsOf(entry)[0] ?? entry), []));
  } else if (entry.type === 'array') {
    const first = textOf(itemsOf(entry)[0]);
    report(
      problem(
        'entry-is-list',
        spanOf(entry),
        [runtime],
        first ? replaceFix(spanOf(entry), first) : undefined,
      ),
    );
  } else if (path && !insideParts(path)) {
    report(problem('outside-folder', spanOf(entry), [path]));
  }
}

function checkParameter(text: string, parameter: Node, report: Report): void {
  const value = at(parameter, 'default');
  const minimum = at(parameter, 'minimum');
  const maximum = at(parameter, 'maximum');
  const least = numberOf(minimum) ?? -Infinity;
  const greatest = numberOf(maximum) ?? Infinity;
  if (minimum && maximum && least > greatest) {
    const span = { start: minimum.offset, end: maximum.offset + maximum.length };
    const [first, second] = minimum.offset < maximum.offset ? [minimum, maximum] : [maximum, minimum];
    const between = text.slice(spanOf(first).end, second.offset);
    report(
      problem('range-reversed', spanOf(minimum), [], {
        title: fixTitles.exchange(),
        start: Math.min(span.start, maximum.offset),
        end: Math.max(span.end, spanOf(minimum).end),
        text: `${String(valueOf(second))}${between}${String(valueOf(first))}`,
      }),
    );
  } else if (value) checkDefault(parameter, value, least, greatest, report);
  checkChoices(text, parameter, report);
}

function checkDefault(parameter: Node, value: Node, least: number, greatest: number, report: Report): void {
  const number = numberOf(value);
  if (number !== undefined && (number < least || number > greatest)) {
    const fix = rewriteFix(spanOf(value), String(number < least ? least : greatest));
    report(
      problem('default-outside-range', spanOf(value), [String(number), rangeWords(least, greatest)], fix),
    );
  }
  const characters = textOf(value)?.length ?? 0;
  const longest = numberOf(at(parameter, 'maxLength'));
  if (longest !== undefined && characters > longest) {
    report(problem('too-long', spanOf(value), [characters, longest]));
  }
}

function checkChoices(text: string, parameter: Node, report: Report): void {
  if (textOf(at(parameter, 'type')) !== 'choice') return;
  const choices = itemsOf(at(parameter, 'choices'));
  const values = new Set<string>();
  for (const choice of choices) {
    const value = textOf(choice);
    if (value === undefined) continue;
    if (values.has(value))
      report(problem('listed-twice', spanOf(choice), [value], removeFix(text, spanOf(choice), 'this one')));
    values.add(value);
  }
  const preset = at(parameter, 'default');
  const chosen = textOf(preset);
  if (!preset || chosen === undefined || values.size === 0 || values.has(chosen)) return;
  const meant = nearest(chosen, values);
  const [first = ''] = values;
  report(
    problem(
      'default-not-a-choice',
      spanOf(preset),
      [chosen, meant],
      replaceFix(spanOf(preset), meant ?? first),
    ),
  );
}

function checkView(root: Node, report: Report): void {
  const output = at(root, 'view', 'output');
  const port = textOf(output);
  if (!output || port === undefined) return;
  const outputs = membersOf(at(root, 'outputs')).map((member) => member.key);
  if (outputs.includes(port)) return;
  const meant = nearest(port, outputs) ?? (outputs.length === 1 ? outputs[0] : undefined);
  const fix = meant === undefined ? undefined : replaceFix(spanOf(output), meant);
  report(problem('unknown-view-output', spanOf(output), [port, meant], fix));
}

import { createScanner, parseTree, printParseErrorCode, type Node, type ParseError } from 'jsonc-parser';
import { fixTitles } from '../messages.ts';
import type { Problem } from '../project/model.ts';
import { removeFix } from './edits.ts';
import { membersOf, spanOf, valueOf } from './nodes.ts';
import { collectProblems, problem, startOfFile, type Report } from './problem.ts';

/** What a manifest's text says, as far as it can be read. */
export interface ParsedText {
  readonly text: string;
  /** Present also where the text is broken, as far as it goes; absent where it is empty or hostile. */
  readonly root: Node | undefined;
  /** The value; undefined unless the text is JSON that every parser reads alike. */
  readonly value: unknown;
  readonly problems: readonly Problem[];
}

export const deepestNesting = 32;

/** Reads strict JSON (RFC 8259) and keeps the places. Never throws. Takes time linear in the text. */
export function parseText(text: string): ParsedText {
  const deep = tooDeepAt(text);
  if (deep !== undefined) {
    const found = problem('too-deep', { start: deep, end: deep + 1 }, [deepestNesting]);
    return { text, root: undefined, value: undefined, problems: [found] };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true, disallowComments: true });
  const problems = collectProblems((report) => {
    if (!root && text.trim() === '') report(problem('empty', startOfFile, []));
    else reportErrors(text, errors, report);
    if (root && errors.every(isComment)) checkNodes(text, root, report);
  });
  return { text, root, value: problems.length === 0 ? strictValue(text, problems) : undefined, problems };
}

/** The offset of the first bracket that is nested too deep. Recursion below is bounded by this check. */
function tooDeepAt(text: string): number | undefined {
  if (hasFewBrackets(text)) return undefined;
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind: number = scanner.scan(); kind !== endOfText; kind = scanner.scan()) {
    if (kind === openBrace || kind === openBracket) depth++;
    else if (kind === closeBrace || kind === closeBracket) depth--;
    if (depth > deepestNesting) return scanner.getTokenOffset();
  }
  return undefined;
}

/** True for most manifests: no more brackets in all than may be nested, wherever they stand. */
function hasFewBrackets(text: string): boolean {
  let count = 0;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    if ((unit === 0x5b || unit === 0x7b) && ++count > deepestNesting) return false;
  }
  return true;
}

// jsonc-parser declares these as const enums, which type stripping can't see through.
const openBrace = 1;
const closeBrace = 2;
const openBracket = 3;
const closeBracket = 4;
const endOfText = 17;

/**
 * Comments and missing commas, each with its fix, up to the first place that is broken otherwise: what a parser says
 * after that is a guess.
 */
function reportErrors(text: string, errors: readonly ParseError[], report: Report): void {
  for (const error of errors) {
    const name = printParseErrorCode(error.error);
    const span = { start: error.offset, end: error.offset + error.length };
    if (name === 'InvalidCommentToken') {
      report(problem('comment', span, [], { ...span, title: fixTitles.remove('the comment'), text: '' }));
    } else if (name !== 'CommaExpected') {
      return report(problem('syntax', span, [expectations[name] ?? name]));
    } else if (/[0-9]/.test(text[error.offset - 1] ?? '')) {
      return report(problem('syntax', span, ['a number does not begin with 0 and go on']));
    } else {
      const end = endOfValueBefore(text, error.offset);
      report(
        problem('missing-comma', span, [], { title: fixTitles.insertComma(), start: end, end, text: ',' }),
      );
    }
  }
}

function isComment(error: ParseError): boolean {
  return printParseErrorCode(error.error) === 'InvalidCommentToken';
}

const expectations: Readonly<Record<string, string>> = {
  InvalidSymbol: 'a value is text in double quotes, a number, true, false, null, { } or [ ]',
  InvalidNumberFormat: 'a number looks like 12, -3 or 0.5',
  PropertyNameExpected: 'a key in double quotes comes here',
  ValueExpected: 'a value comes here',
  ColonExpected: 'a colon comes after the key',
  CloseBraceExpected: 'a closing } is missing',
  CloseBracketExpected: 'a closing ] is missing',
  EndOfFileExpected: 'nothing may follow the closing }',
  UnexpectedEndOfComment: 'a comment is not closed',
  UnexpectedEndOfString: 'a closing " is missing',
  UnexpectedEndOfNumber: 'a number ends too early',
  InvalidUnicode: 'after \\u come four hexadecimal digits',
  InvalidEscapeCharacter: 'this character can’t follow a \\',
  InvalidCharacter: 'a text holds a control character; write it as \\u and four digits',
};

function endOfValueBefore(text: string, offset: number): number {
  let end = offset;
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end--;
  return end;
}

/** What jsonc-parser lets pass: the last comma, keys that come twice or are reserved, and text that deceives. */
function checkNodes(text: string, node: Node, report: Report): void {
  if (node.type === 'string') checkCharacters(node, report);
  const last = node.children?.at(-1);
  if (last && (node.type === 'object' || node.type === 'array')) checkLastComma(text, node, last, report);
  const seen = new Set<string>();
  for (const { key, keyNode, property } of membersOf(node)) {
    if (seen.has(key)) {
      report(problem('duplicate-key', spanOf(keyNode), [key], removeFix(text, spanOf(property), 'this one')));
    }
    seen.add(key);
    if (reservedKeys.has(key)) {
      report(problem('reserved-key', spanOf(keyNode), [key], removeFix(text, spanOf(property), 'it')));
    }
  }
  for (const child of node.children ?? []) checkNodes(text, child, report);
}

/** Keys with a meaning of their own in JavaScript: no object of the engine is ever built with one. */
export const reservedKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

function checkLastComma(text: string, node: Node, last: Node, report: Report): void {
  const from = spanOf(last).end;
  const comma = /^\s*,/.exec(text.slice(from, spanOf(node).end));
  if (!comma) return;
  const span = { start: from + comma[0].length - 1, end: from + comma[0].length };
  report(problem('trailing-comma', span, [], { ...span, title: fixTitles.remove('the comma'), text: '' }));
}

function checkCharacters(node: Node, report: Report): void {
  const value = String(valueOf(node));
  if (!suspectCharacter.test(value)) return;
  const what = !value.isWellFormed()
    ? 'half of a surrogate pair'
    : controlCharacter.test(value)
      ? 'a control character'
      : directionCharacter.test(value)
        ? 'a character that turns the direction of text'
        : undefined;
  if (what !== undefined) report(problem('bad-text', spanOf(node), [what]));
}

const suspectCharacter = /[\0-\x1f\x7f\u202a-\u202e\u2066-\u2069\ud800-\udfff]/;

/** Embeddings, overrides and isolates of Unicode's bidirectional algorithm: they show text in another order. */
const directionCharacter = /[\u202a-\u202e\u2066-\u2069]/;

const controlCharacter = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f]/;

/** `JSON.parse` has the last word on what is JSON. */
function strictValue(text: string, problems: Problem[]): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    problems.push(problem('syntax', startOfFile, ['JSON.parse refuses this text']));
    return undefined;
  }
}

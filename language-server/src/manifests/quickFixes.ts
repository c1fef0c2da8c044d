import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { CodeActionKind, type CodeAction, type Diagnostic } from 'vscode-languageserver';
import { fixTitles, type ProblemCode } from '../messages.ts';
import type { Problem } from '../project/model.ts';
import { insideParts } from './paths.ts';
import { rangeOf } from './positions.ts';
import type { Span } from './problem.ts';

export interface FixableFile {
  readonly uri: string;
  readonly path: string;
  readonly lines: Uint32Array;
  readonly text: string;
  readonly problems: readonly Problem[];
  readonly toDiagnostic: (problem: Problem) => Diagnostic;
  /** True where the editor can make files as part of an edit. */
  readonly canCreateFiles: boolean;
}

/** The quick fixes for problems that touch a span. */
export function quickFixes(file: FixableFile, span: Span): CodeAction[] {
  return file.problems
    .filter((problem) => problem.start <= span.end && problem.end >= span.start)
    .flatMap((problem) => [...textFix(file, problem), ...createEntry(file, problem)]);
}

function textFix(file: FixableFile, problem: Problem): CodeAction[] {
  const { fix } = problem;
  if (!fix) return [];
  return [
    {
      title: fix.title,
      kind: CodeActionKind.QuickFix,
      isPreferred: true,
      diagnostics: [file.toDiagnostic(problem)],
      edit: { changes: { [file.uri]: [{ range: rangeOf(file.lines, fix), newText: fix.text }] } },
    },
  ];
}

function createEntry(file: FixableFile, problem: Problem): CodeAction[] {
  if (!missingCodes.has(problem.code) || !file.canCreateFiles) return [];
  const path: unknown = JSON.parse(file.text.slice(problem.start, problem.end));
  const parts = typeof path === 'string' ? insideParts(path) : undefined;
  if (!parts) return [];
  const uri = pathToFileURL(join(dirname(file.path), ...parts)).href;
  return [
    {
      title: fixTitles.createFile(parts.join('/')),
      kind: CodeActionKind.QuickFix,
      diagnostics: [file.toDiagnostic(problem)],
      edit: { documentChanges: [{ kind: 'create', uri, options: { ignoreIfExists: true } }] },
    },
  ];
}

/** Problems at the path of a file that is not there. */
const missingCodes: ReadonlySet<string> = new Set<ProblemCode>(['missing-entry', 'missing-file']);

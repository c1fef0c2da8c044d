import { DiagnosticSeverity, type Diagnostic } from 'vscode-languageserver';
import { rangeOf } from '../manifests/positions.ts';
import type { LoadedProject, Problem } from '../project/model.ts';
import { uriOf } from './uris.ts';

export type LinesOf = (path: string) => Uint32Array | undefined;

const noLines = Uint32Array.of(0);

/** A problem in LSP's terms. Places that can't be found any more are left out. */
export function toDiagnostic(problem: Problem, lines: Uint32Array, linesOf: LinesOf): Diagnostic {
  const related = (problem.related ?? []).flatMap(({ path, message, ...span }) => {
    const farLines = linesOf(path);
    return farLines ? [{ location: { uri: uriOf(path), range: rangeOf(farLines, span) }, message }] : [];
  });
  return {
    range: rangeOf(lines, problem),
    severity: problem.severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code: problem.code,
    source: 'sallyport',
    message: problem.message,
    ...(related.length > 0 ? { relatedInformation: related } : {}),
  };
}

/** The diagnostics of every manifest of a project that has any, by path. */
export function projectDiagnostics(project: LoadedProject, linesOf: LinesOf): Map<string, Diagnostic[]> {
  const found = new Map<string, Diagnostic[]>();
  for (const { manifestPath, problems } of [project, ...project.cards.values()]) {
    if (problems.length === 0) continue;
    const lines = linesOf(manifestPath) ?? noLines;
    found.set(
      manifestPath,
      problems.map((problem) => toDiagnostic(problem, lines, linesOf)),
    );
  }
  return found;
}

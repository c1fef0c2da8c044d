import { readFileSync } from 'node:fs';
import { relative } from 'node:path';
import type { LoadedProject, Problem } from '../project/model.ts';
import { exitCodes } from './exitCodes.ts';
import type { Session } from './session.ts';
import { paint, printable } from './terminal.ts';

/** A problem with its place, as it is printed. Lines and columns count from 1. */
export interface FoundProblem {
  readonly path: string;
  readonly line: number;
  readonly column: number;
  readonly severity: Problem['severity'];
  readonly code: string;
  readonly message: string;
}

/** Lists every problem of a project's manifests. */
export function checkCommand(session: Session): number {
  const { args, terminal, root } = session;
  const project = session.project();
  const problems = problemsOf(project);
  const errors = problems.filter(({ severity }) => severity === 'error').length;
  if (args.json) {
    terminal.out(JSON.stringify({ project: root, errors, problems }));
  } else {
    for (const each of problems) terminal.out(problemLine(each, root, terminal));
    const cards = project.cards.size;
    terminal.out(
      errors > 0
        ? paint(terminal, 'red', `${errors} ${errors === 1 ? 'error' : 'errors'} in ${root}`)
        : `${cards} ${cards === 1 ? 'card' : 'cards'}, no errors`,
    );
  }
  return errors > 0 ? exitCodes.badProject : exitCodes.done;
}

export function problemsOf(project: LoadedProject): FoundProblem[] {
  return [
    ...placed(project.manifestPath, project.problems),
    ...[...project.cards.values()].flatMap(({ manifestPath, problems }) => placed(manifestPath, problems)),
  ];
}

export function problemLine(
  { path, line, column, severity, message }: FoundProblem,
  root: string,
  terminal: Session['terminal'],
): string {
  const word = paint(terminal, severity === 'error' ? 'red' : 'yellow', severity);
  return `${printable(relative(root, path))}:${line}:${column}  ${word}  ${printable(message)}`;
}

function placed(path: string, problems: readonly Problem[]): FoundProblem[] {
  if (problems.length === 0) return [];
  const text = textOf(path);
  return problems.map(({ start, severity, code, message }) => {
    const before = text.slice(0, start).split('\n');
    return { path, line: before.length, column: (before.at(-1)?.length ?? 0) + 1, severity, code, message };
  });
}

/** A file that can't be read has its problems at the beginning. */
function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

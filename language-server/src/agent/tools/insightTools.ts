import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { Projects, Problem } from '../../project/model.ts';
import { boundOutput } from './boundOutput.ts';
import { about, defineTool, thing } from './defineTool.ts';
import { outlineOf, type OutlineName } from './outline.ts';
import { parseText } from './textFile.ts';
import type { Tool } from './tool.ts';
import { editableBytes } from './editTool.ts';
import { missing, readPlace, targetOf, toolPath } from './toolPath.ts';

/** A problem as an editor shows it. */
export interface EditorProblem {
  /** Absolute. */
  readonly path: string;
  /** Counted from 1. */
  readonly line: number;
  readonly severity: 'error' | 'warning' | 'info';
  readonly source: string;
  readonly message: string;
}

export interface InsightDeps {
  readonly projects: Projects;
  /** VS Code's problems of files below a project; null where there is no editor. */
  readonly editorProblems: ((root: string) => Promise<readonly EditorProblem[]>) | null;
  /** VS Code's symbols of one file by absolute path; null where there are none for it. */
  readonly editorSymbols: ((path: string) => Promise<readonly OutlineName[] | null>) | null;
}

const diagnosticsInput = z.strictObject({
  path: z.optional(about('Only problems of this file or below this folder.', z.string())),
});

/** `diagnostics`: what is wrong in the manifests, and what VS Code shows as problems. */
export function createDiagnosticsTool({ projects, editorProblems }: InsightDeps): Tool {
  return defineTool({
    name: 'diagnostics',
    description:
      'Lists problems: of the project’s manifests as they are on disk, and those that VS Code shows for files.',
    input: diagnosticsInput,
    list: 'ordinary',
    effect: 'read',
    async prepare({ path: asked = '.' }, context) {
      const path = toolPath(context.root, asked);
      if (path.isOutside) throw new UserError('unsafe-path', `${asked} is not in the project`);
      const isWanted = (relative: string) =>
        path.relative === '' || relative === path.relative || relative.startsWith(`${path.relative}/`);
      return {
        args: { path: asked },
        permissions: [],
        measure: async () => [thing('project', context.root, null)],
        describe: () => ({ title: 'List the problems of the project', lines: [], fullText: null }),
        async run() {
          const manifests = manifestProblems(projects, context.root).filter(({ relative }) =>
            isWanted(relative),
          );
          const shown = (await editorProblems?.(context.root)) ?? [];
          const editor = shown.flatMap((each) => {
            const place = within(context.root, each.path);
            return place !== undefined && isWanted(place)
              ? [`${place}:${each.line} ${each.severity}: ${each.message} (${each.source})`]
              : [];
          });
          const lines = [...manifests.map(({ line }) => line), ...editor];
          const from = editorProblems === null ? ' (manifests only: no editor is connected)' : '';
          return {
            text: boundOutput([`${lines.length} problems${from}.`, ...lines].join('\n')),
            isError: false,
          };
        },
      };
    },
  });
}

const symbolsInput = z.strictObject({ path: about('The file.', z.string()) });

/** `symbols`: what a file defines. */
export function createSymbolsTool({ editorSymbols }: InsightDeps): Tool {
  return defineTool({
    name: 'symbols',
    description:
      'Lists what a file defines, with line numbers: from VS Code where it knows the language, else by patterns at the beginnings of lines. The answer says which.',
    input: symbolsInput,
    list: 'ordinary',
    effect: 'read',
    async prepare({ path: asked }, context) {
      const path = toolPath(context.root, asked);
      if (!path.exists) throw missing(path);
      return {
        args: { path: asked },
        permissions: [],
        measure: async () => [await targetOf(context.root, path)],
        describe: () => ({ title: `List what ${path.relative} defines`, lines: [path.real], fullText: null }),
        async run() {
          const text = parseText(readPlace(path, editableBytes))?.text;
          if (text === undefined) return { text: `${asked} is not text.`, isError: true };
          const known = path.isOutside ? null : await editorSymbols?.(path.real);
          const names = known ?? outlineOf(path.relative, text);
          const by = known ? 'from VS Code' : 'by patterns at the beginnings of lines, which may miss some';
          const lines = names.map(({ line, kind, name }) => `${line}\t${kind} ${name}`);
          return {
            text: boundOutput([`${names.length} symbols, ${by}.`, ...lines].join('\n')),
            isError: false,
          };
        },
      };
    },
  });
}

function manifestProblems(projects: Projects, root: string): { relative: string; line: string }[] {
  const project = projects.refresh(root);
  const files = [
    { path: project.manifestPath, problems: project.problems },
    ...[...project.cards.values()].map(({ manifestPath, problems }) => ({ path: manifestPath, problems })),
  ];
  return files.flatMap(({ path, problems }) => {
    const relative = within(root, path) ?? path;
    const text = problems.length === 0 ? '' : textOf(root, relative);
    return problems.map((problem) => ({
      relative,
      line: `${relative}:${lineOf(text, problem)} ${problem.severity}: ${problem.message}`,
    }));
  });
}

function textOf(root: string, relative: string): string {
  try {
    return readPlace(toolPath(root, relative), editableBytes).toString('utf8');
  } catch {
    return '';
  }
}

function lineOf(text: string, { start }: Problem): number {
  return text.slice(0, start).split('\n').length;
}

/** The path relative to the project, with `/`; undefined outside of it. */
function within(root: string, path: string): string | undefined {
  const prefix = root.endsWith('/') ? root : `${root}/`;
  const plain = path.replaceAll('\\', '/');
  return plain.startsWith(prefix.replaceAll('\\', '/')) ? plain.slice(prefix.length) : undefined;
}

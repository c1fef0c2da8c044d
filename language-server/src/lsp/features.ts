import {
  CodeActionKind,
  ResponseError,
  ErrorCodes,
  type Connection,
  type ServerCapabilities,
  TextDocumentSyncKind,
} from 'vscode-languageserver';
import { idPattern } from '../../../protocol/src/manifests.ts';
import { problemTexts } from '../messages.ts';
import { codeLenses, type CardRecord } from '../manifests/codeLenses.ts';
import { completion } from '../manifests/completion.ts';
import { hover } from '../manifests/hover.ts';
import { definition, documentLinks } from '../manifests/links.ts';
import type { ManifestContext } from '../manifests/manifestContext.ts';
import { offsetAt, type TextPosition } from '../manifests/positions.ts';
import { quickFixes } from '../manifests/quickFixes.ts';
import { rename, renameRange } from '../manifests/rename.ts';
import { documentSymbols } from '../manifests/symbols.ts';
import { toDiagnostic } from './diagnostics.ts';
import { looseProblems } from './looseManifest.ts';
import type { Workspace } from './workspace.ts';

export const capabilities: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: ['"', '/', ':', ' '] },
  hoverProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
  codeLensProvider: {},
  definitionProvider: true,
  documentLinkProvider: {},
  documentSymbolProvider: true,
  renameProvider: { prepareProvider: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

export interface FeatureOptions {
  readonly connection: Connection;
  readonly workspace: Workspace;
  readonly canCreateFiles: () => boolean;
  /** What the engine's records say of a card; undefined where they can't be reached. */
  readonly recordOf: (root: string, card: string) => Promise<CardRecord | undefined>;
}

/** Answers what an editor asks about an open manifest. */
export function registerFeatures({ connection, workspace, canCreateFiles, recordOf }: FeatureOptions): void {
  const context = (params: { readonly textDocument: { readonly uri: string } }) =>
    workspace.contextOf(params.textDocument.uri);
  const at = (params: {
    readonly textDocument: { readonly uri: string };
    readonly position: TextPosition;
  }): [ManifestContext, number] | undefined => {
    const found = context(params);
    return found && [found, offsetAt(found.lines, found.text, params.position)];
  };
  const given = <T, R>(value: T | undefined, use: (value: T) => R | undefined): R | null =>
    value === undefined ? null : (use(value) ?? null);

  connection.onCompletion((params) => given(at(params), ([found, offset]) => completion(found, offset)));
  connection.onHover((params) => given(at(params), ([found, offset]) => hover(found, offset)));
  connection.onDefinition((params) => given(at(params), ([found, offset]) => definition(found, offset)));
  connection.onDocumentLinks((params) => given(context(params), documentLinks));
  connection.onDocumentSymbol((params) =>
    given(context(params), (found) => (found.editorKnowsSchema ? [] : documentSymbols(found))),
  );
  connection.onPrepareRename((params) => given(at(params), ([found, offset]) => renameRange(found, offset)));
  connection.onRenameRequest((params) => {
    if (!idPattern.test(params.newName)) {
      return new ResponseError(ErrorCodes.InvalidParams, problemTexts['bad-id'](params.newName));
    }
    return given(at(params), ([found, offset]) => rename(found, offset, params.newName));
  });
  connection.onCodeLens(async (params) => {
    const found = context(params);
    if (!found) return null;
    const { project, card } = found;
    return codeLenses(found, project && card ? await recordOf(project.root, card.id) : undefined);
  });
  connection.onCodeAction((params) =>
    given(context(params), (found) => {
      const { lines, text, path, state, card, kind, project } = found;
      const known = kind === 'project' ? project : card;
      const problems = known?.problems ?? looseProblems(path, text).problems;
      const span = {
        start: offsetAt(lines, text, params.range.start),
        end: offsetAt(lines, text, params.range.end),
      };
      const linesOf = (far: string) => state?.linesOf(far);
      return quickFixes(
        {
          uri: params.textDocument.uri,
          path,
          lines,
          text,
          problems,
          toDiagnostic: (problem) => toDiagnostic(problem, lines, linesOf),
          canCreateFiles: canCreateFiles(),
        },
        span,
      );
    }),
  );
}

import {
  BulkRegistration,
  CodeActionKind,
  DocumentFormattingRequest,
  DocumentRangeFormattingRequest,
  DocumentSymbolRequest,
  ErrorCodes,
  ResponseError,
  type ClientCapabilities,
  type Connection,
  type Range,
  type ServerCapabilities,
  TextDocumentSyncKind,
} from 'vscode-languageserver';
import { manifestLanguage } from '../../../protocol/src/manifestLanguage.ts';
import { idPattern } from '../../../protocol/src/manifests.ts';
import { problemTexts } from '../messages.ts';
import { codeLenses, type CardRecord } from '../manifests/codeLenses.ts';
import { completion } from '../manifests/completion.ts';
import { formatting } from '../manifests/formatting.ts';
import { hover } from '../manifests/hover.ts';
import { definition, documentLinks } from '../manifests/links.ts';
import type { ManifestContext } from '../manifests/manifestContext.ts';
import { offsetAt, type TextPosition } from '../manifests/positions.ts';
import type { Span } from '../manifests/problem.ts';
import { quickFixes } from '../manifests/quickFixes.ts';
import { rename, renameRange } from '../manifests/rename.ts';
import { documentSymbols } from '../manifests/symbols.ts';
import { toDiagnostic } from './diagnostics.ts';
import { looseProblems } from './looseManifest.ts';
import type { Workspace } from './workspace.ts';

const capabilities: ServerCapabilities = {
  textDocumentSync: { openClose: true, change: TextDocumentSyncKind.Incremental, save: true },
  completionProvider: { triggerCharacters: ['"', '/', ':', ' '] },
  hoverProvider: true,
  codeActionProvider: { codeActionKinds: [CodeActionKind.QuickFix] },
  codeLensProvider: {},
  definitionProvider: true,
  documentLinkProvider: {},
  renameProvider: { prepareProvider: true },
  workspace: { workspaceFolders: { supported: true, changeNotifications: true } },
};

/** What any editor's JSON support has too. Offered twice, an outline is doubled and formatting asks which one to use. */
const jsonCapabilities: ServerCapabilities = {
  documentSymbolProvider: true,
  documentFormattingProvider: true,
  documentRangeFormattingProvider: true,
};

/**
 * What the engine offers, given what the editor can do. Where the editor can be told a selector, `registerLater` adds
 * outline and formatting for manifests in their own language alone, not for one that a person has opened as JSON.
 */
export function capabilitiesFor({ textDocument }: ClientCapabilities): {
  readonly capabilities: ServerCapabilities;
  readonly registerLater: (connection: Connection) => Promise<unknown>;
} {
  const takesSelectors =
    textDocument?.documentSymbol?.dynamicRegistration &&
    textDocument.formatting?.dynamicRegistration &&
    textDocument.rangeFormatting?.dynamicRegistration;
  if (!takesSelectors)
    return {
      capabilities: { ...capabilities, ...jsonCapabilities },
      registerLater: () => Promise.resolve(),
    };
  const options = { documentSelector: [{ scheme: 'file', language: manifestLanguage }] };
  const registrations = BulkRegistration.create();
  registrations.add(DocumentSymbolRequest.type, options);
  registrations.add(DocumentFormattingRequest.type, options);
  registrations.add(DocumentRangeFormattingRequest.type, options);
  return { capabilities, registerLater: (connection) => connection.client.register(registrations) };
}

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
  connection.onDocumentSymbol((params) => given(context(params), documentSymbols));
  connection.onDocumentFormatting((params) =>
    given(context(params), (found) => formatting(found, params.options)),
  );
  connection.onDocumentRangeFormatting((params) =>
    given(context(params), (found) => formatting(found, params.options, spanOf(found, params.range))),
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
        spanOf(found, params.range),
      );
    }),
  );
}

function spanOf({ lines, text }: ManifestContext, range: Range): Span {
  return { start: offsetAt(lines, text, range.start), end: offsetAt(lines, text, range.end) };
}

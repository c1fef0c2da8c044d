import { sep } from 'node:path';
import {
  commands,
  DiagnosticSeverity,
  languages,
  SymbolKind,
  Uri,
  workspace,
  type DocumentSymbol,
  type SymbolInformation,
} from 'vscode';
import type { ResultOf } from '../../../protocol/src/contract.ts';
import type { providerRequests } from '../../../protocol/src/agent.ts';

type Problems = ResultOf<(typeof providerRequests)['editor/problems']>;
type Symbols = ResultOf<(typeof providerRequests)['editor/symbols']>;

const mostProblems = 1000;
const mostSymbols = 2000;

/** The problems that VS Code shows for files below a folder, errors first. */
export function editorProblems(root: string): Problems {
  const found = languages.getDiagnostics().flatMap(([uri, diagnostics]) =>
    uri.scheme === 'file' && uri.fsPath.startsWith(`${root}${sep}`)
      ? diagnostics.map((each) => ({
          path: uri.fsPath,
          line: each.range.start.line + 1,
          severity: severityOf(each.severity),
          source: each.source ?? '',
          message: each.message,
        }))
      : [],
  );
  return found.sort((a, b) => order.indexOf(a.severity) - order.indexOf(b.severity)).slice(0, mostProblems);
}

/**
 * The names of a file, outer before inner. A file outside the window's folders is not opened: an agent reads those through
 * its own tools.
 */
export async function editorSymbols(path: string): Promise<Symbols> {
  const uri = Uri.file(path);
  if (!workspace.getWorkspaceFolder(uri)) return null;
  const found = await commands.executeCommand<(DocumentSymbol | SymbolInformation)[] | undefined>(
    'vscode.executeDocumentSymbolProvider',
    uri,
  );
  return found ? found.flatMap(flat).slice(0, mostSymbols) : null;
}

const order = ['error', 'warning', 'info'] as const;

function severityOf(severity: DiagnosticSeverity): (typeof order)[number] {
  if (severity === DiagnosticSeverity.Error) return 'error';
  return severity === DiagnosticSeverity.Warning ? 'warning' : 'info';
}

function flat(symbol: DocumentSymbol | SymbolInformation): { name: string; kind: string; line: number }[] {
  const range = 'location' in symbol ? symbol.location.range : symbol.range;
  const own = { name: symbol.name, kind: SymbolKind[symbol.kind].toLowerCase(), line: range.start.line + 1 };
  return 'children' in symbol ? [own, ...symbol.children.flatMap(flat)] : [own];
}

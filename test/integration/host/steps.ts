import { readdirSync, readFileSync } from 'node:fs';
import * as vscode from 'vscode';

/** The extension's id. */
const id = 'sallyport.sallyport';

/**
 * What tests outside can have done inside the extension host, by name. Only the test bundle holds this; nothing of it
 * can answer a question that is put to a person.
 */
export const steps = {
  isActive: () => vscode.extensions.getExtension(id)?.isActive === true,
  isTrusted: () => vscode.workspace.isTrusted,
  command: async ({ command, args = [] }: { command: string; args?: unknown[] }) => {
    await vscode.commands.executeCommand(command, ...args);
  },
  setting: async ({ section, name, value }: { section: string; name: string; value: unknown }) => {
    await vscode.workspace.getConfiguration(section).update(name, value, vscode.ConfigurationTarget.Global);
  },
  open: async ({ path }: { path: string }) => {
    await vscode.window.showTextDocument(vscode.Uri.file(path), { preview: false });
  },
  diagnostics: ({ path }: { path: string }) =>
    vscode.languages.getDiagnostics(vscode.Uri.file(path)).map((each) => ({
      message: each.message,
      severity: each.severity,
      line: each.range.start.line,
    })),
  /** Applies the first fix with this title at the first problem of the file, and saves. False where there is none. */
  fix: async ({ path, title }: { path: string; title: string }) => {
    const uri = vscode.Uri.file(path);
    for (const problem of vscode.languages.getDiagnostics(uri)) {
      const actions = await vscode.commands.executeCommand<vscode.CodeAction[]>(
        'vscode.executeCodeActionProvider',
        uri,
        problem.range,
        vscode.CodeActionKind.QuickFix.value,
      );
      const action = actions.find((each) => each.title.includes(title) && each.edit);
      if (action?.edit)
        return (await vscode.workspace.applyEdit(action.edit)) && (await vscode.workspace.saveAll());
    }
    return false;
  },
  lenses: async ({ path }: { path: string }) => {
    const lenses = await vscode.commands.executeCommand<vscode.CodeLens[]>(
      'vscode.executeCodeLensProvider',
      vscode.Uri.file(path),
    );
    return lenses.map((lens) => lens.command?.title ?? '');
  },
  /** The names at the top of a document's outline, from every provider. */
  outline: async ({ path }: { path: string }) => {
    const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[] | undefined>(
      'vscode.executeDocumentSymbolProvider',
      vscode.Uri.file(path),
    );
    return (symbols ?? []).map((each) => each.name);
  },
  activeText: () => {
    const document = vscode.window.activeTextEditor?.document;
    return document
      ? { scheme: document.uri.scheme, text: document.getText(), isDirty: document.isDirty }
      : null;
  },
  tabs: () => vscode.window.tabGroups.all.flatMap((group) => group.tabs.map((tab) => tab.label)),
  closeAll: async () => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
  },
  enginePids: () => enginePids(),
  killEngine: () => {
    const pids = enginePids();
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    return pids;
  },
} as const;

/** The engines that this extension host started. */
function enginePids(): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .filter((pid) => {
      try {
        const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
        const parent = Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]);
        return parent === process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('engine.mjs');
      } catch {
        return false;
      }
    })
    .map(Number);
}

export type Steps = typeof steps;

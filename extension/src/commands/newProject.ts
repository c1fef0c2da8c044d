import { Uri, window, workspace } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import { choose, notices, questions } from '../messages.ts';
import { isEmptyFolder } from '../native/emptyFolder.ts';
import { projectFile } from '../project/projectPresence.ts';
import type { Services } from '../services.ts';
import { projectScaffold } from './projectScaffold.ts';
import type { Disposable } from '../disposable.ts';

/** New Project: writes a small project into an empty folder, after asking. */
export function registerNewProject(services: Services): Disposable {
  const { commands, notifier, presence } = services;
  return commands.register('sallyport.newProject', async () => {
    const folder = await chooseFolder();
    if (folder.scheme !== 'file') {
      notifier.show(notices.notLocal(folder.toString()));
      return;
    }
    if (!(await isEmptyFolder(folder))) {
      notifier.show(notices.folderNotEmpty(folder.fsPath));
      return;
    }
    const files = projectScaffold(projectName(folder));
    const ask = questions.newProject(folder.fsPath, Object.keys(files));
    const options = { modal: true, detail: ask.detail };
    if ((await window.showInformationMessage(ask.text, options, ask.button)) !== ask.button) return;
    if (!(await isEmptyFolder(folder))) {
      notifier.show(notices.folderNotEmpty(folder.fsPath));
      return;
    }
    await writeFiles(folder, files);
    if (workspace.getWorkspaceFolder(folder)) {
      await presence.check();
      await window.showTextDocument(Uri.joinPath(folder, projectFile));
    } else {
      await offerToOpen(folder, services);
    }
  });
}

/** The one open folder where it is empty, else the folder that a person chooses. Throws `cancelled`. */
async function chooseFolder(): Promise<Uri> {
  const [only, ...others] = workspace.workspaceFolders ?? [];
  if (only && others.length === 0 && (await isEmptyFolder(only.uri))) return only.uri;
  const chosen = await window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: false,
    openLabel: choose.newProjectFolder(),
  });
  const [folder] = chosen ?? [];
  if (!folder) throw new UserError('cancelled', 'No folder was chosen');
  return folder;
}

/** The manifest comes last: a project that is half written is none. */
async function writeFiles(folder: Uri, files: Readonly<Record<string, string>>): Promise<void> {
  const paths = Object.keys(files).sort((a, b) => Number(a === projectFile) - Number(b === projectFile));
  for (const path of paths) {
    await workspace.fs.writeFile(
      Uri.joinPath(folder, ...path.split('/')),
      new TextEncoder().encode(files[path]),
    );
  }
}

async function offerToOpen(folder: Uri, { commands }: Services): Promise<void> {
  const { text, detail, button } = questions.openNewProject(folder.fsPath);
  const chosen = await window.showInformationMessage(text, { modal: true, detail }, button);
  if (chosen === button) await commands.runBuiltin('vscode.openFolder', folder);
}

function projectName(folder: Uri): string {
  return folder.path.split('/').filter(Boolean).at(-1) ?? 'project';
}

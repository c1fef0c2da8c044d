import { homedir } from 'node:os';
import { join } from 'node:path';
import { Uri, window, workspace } from 'vscode';
import { openWebLink } from '../panels/openWebLink.ts';
import { appWords } from './appWords.ts';
import type { PersonWindow } from './personActs.ts';

/** Asks by VS Code's own message and dialog. */
export const nativeWindow: PersonWindow = {
  openLink: (app, url) => openWebLink(url, appWords.openLink(app, url.host)),
  save: async (app, name, bytes) => {
    const target = await window.showSaveDialog({
      title: appWords.save(app),
      defaultUri: Uri.file(join(homedir(), name)),
    });
    if (!target) return false;
    await workspace.fs.writeFile(target, bytes);
    return true;
  },
};

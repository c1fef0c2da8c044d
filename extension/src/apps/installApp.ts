import { stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { ThemeIcon, window, type QuickPickItem } from 'vscode';
import type { AppSource, AppView } from '../../../protocol/src/apps.ts';
import { appNotices, appWords as words, backupExtension } from '../appMessages.ts';
import type { Engine } from '../engine.ts';
import { pickStep, textStep } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import type { AppProgress } from './appProgress.ts';
import { parseGitAddress } from './gitAddress.ts';
import type { AppReviewer } from './reviewApp.ts';

type From = AppSource['kind'] | 'store';

interface FromItem extends QuickPickItem {
  readonly from: From;
}

export interface InstallAppOptions {
  readonly engine: Engine;
  readonly progress: AppProgress;
  readonly reviewer: AppReviewer;
  readonly notifier: Notifier;
  /** Lets a person choose from the app store; undefined where they turned away. */
  readonly chooseFromStore: () => Promise<AppSource | undefined>;
}

/** Install App and Import App Backup: where from, then staged without running anything, then the review. */
export class InstallApp {
  readonly #options: InstallAppOptions;

  constructor(options: InstallAppOptions) {
    this.#options = options;
  }

  /** Asks where the app is. Undefined where the person turned away. */
  async run(): Promise<AppView | undefined> {
    const source = await this.#chooseSource();
    return source && this.from(source);
  }

  async importBackup(): Promise<AppView | undefined> {
    const source = await chooseFile('backup', words.importTitle());
    return source && this.from(source);
  }

  /** A thing of this machine that was dropped: a folder, an archive or a backup. */
  async dropped(path: string): Promise<AppView | undefined> {
    const kind = await kindOf(path);
    if (kind) return this.from({ kind, path });
    this.#options.notifier.show(appNotices.notAnApp(path));
    return undefined;
  }

  async from(source: AppSource): Promise<AppView | undefined> {
    const { engine, progress, reviewer } = this.#options;
    const review = await progress.run(words.staging(), (progressId, signal) =>
      engine.call('app/stage', { source, progressId }, signal),
    );
    return reviewer.review(review);
  }

  async #chooseSource(): Promise<AppSource | undefined> {
    for (;;) {
      const chosen = await pickStep<FromItem>({
        title: words.installTitle(),
        step: 1,
        totalSteps: 2,
        placeholder: words.whereFrom(),
        items: fromItems(),
      });
      if (chosen.kind !== 'value') return undefined;
      const { from } = chosen.value;
      if (from === 'store') return this.#options.chooseFromStore();
      if (from !== 'git') return chooseFile(from, words.installTitle());
      const address = await textStep({
        title: words.installTitle(),
        step: 2,
        totalSteps: 2,
        prompt: words.addressPrompt(),
        placeholder: words.addressPlaceholder(),
        check: addressProblem,
      });
      if (address.kind === 'back') continue;
      return address.kind === 'value' ? gitSource(address.value) : undefined;
    }
  }
}

/** What is wrong with an address, in words; undefined where nothing is. */
export function addressProblem(text: string): string | undefined {
  const parsed = parseGitAddress(text);
  return typeof parsed === 'string' ? words.addressProblem(parsed) : undefined;
}

function gitSource(text: string): AppSource | undefined {
  const parsed = parseGitAddress(text);
  return typeof parsed === 'string' ? undefined : { kind: 'git', ...parsed };
}

const fromIcons: Readonly<Record<From, string>> = {
  git: 'repo',
  folder: 'folder',
  zip: 'file-zip',
  backup: 'archive',
  store: 'library',
};

function fromItems(): FromItem[] {
  return (['git', 'folder', 'zip', 'backup', 'store'] as const).map((from) => ({
    from,
    label: words.from(from),
    detail: words.fromDetail(from),
    iconPath: new ThemeIcon(fromIcons[from]),
  }));
}

async function chooseFile(kind: 'folder' | 'zip' | 'backup', title: string): Promise<AppSource | undefined> {
  const isFolder = kind === 'folder';
  const filters: Record<string, string[]> =
    kind === 'zip'
      ? { [words.zipFiles()]: ['zip'] }
      : kind === 'backup'
        ? { [words.backupFiles()]: [backupExtension] }
        : {};
  const [file] =
    (await window.showOpenDialog({
      title,
      canSelectFiles: !isFolder,
      canSelectFolders: isFolder,
      canSelectMany: false,
      openLabel: isFolder ? words.openFolder() : words.openFile(),
      filters,
    })) ?? [];
  return file && { kind, path: file.fsPath };
}

/** The engine looks into it; this only tells the kinds apart. Undefined where it is none of them. */
async function kindOf(path: string): Promise<'folder' | 'zip' | 'backup' | undefined> {
  const extension = extname(path).toLowerCase();
  if (extension === '.zip') return 'zip';
  if (extension === `.${backupExtension}`) return 'backup';
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() ? 'folder' : undefined;
}

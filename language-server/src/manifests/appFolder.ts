import { readdirSync, readFileSync, statSync, type Dirent } from 'node:fs';
import { dirname, join } from 'node:path';
import * as z from 'zod/mini';
import { limits } from '../../../protocol/src/limits.ts';
import { appManifest, idPattern, type AppManifest } from '../../../protocol/src/manifests.ts';
import type { AppManifestKind } from '../../../protocol/src/manifestLanguage.ts';
import type { LoadedProject } from '../project/model.ts';
import { parseText } from './parseText.ts';

/** The most names of a folder that are looked at: they are for help, not for a judgement. */
const mostNames = 200;

/** The folder of the app that a manifest belongs to: `APP/app.json`, `APP/plugins/ID/plugin.json`. */
export function appFolderOf(kind: AppManifestKind, path: string): string {
  return kind === 'app' ? dirname(path) : dirname(dirname(dirname(path)));
}

/** True for a manifest in a folder that the project's `apps` names. */
export function isListedApp(
  kind: AppManifestKind,
  path: string,
  project: Pick<LoadedProject, 'root' | 'manifest'> | undefined,
): boolean {
  const folder = appFolderOf(kind, path);
  if (kind === 'plugin' && dirname(dirname(path)) !== join(folder, 'plugins')) return false;
  return (project?.manifest?.apps ?? []).some((pattern) => {
    const parts = pattern.replace(/\/$/, '').split('/');
    const isEvery = parts.at(-1) === '*';
    const named = join(project?.root ?? '', ...(isEvery ? parts.slice(0, -1) : parts));
    return named === (isEvery ? dirname(folder) : folder);
  });
}

/** The files of a folder with one of these endings, by name. */
export function filesWith(folder: string, endings: readonly string[]): string[] {
  return namesIn(folder, (entry) => entry.isFile() && endings.some((ending) => entry.name.endsWith(ending)));
}

/** The ids of the plugins whose manifest is in `plugins/ID`. */
export function pluginFolders(app: string): string[] {
  const folder = join(app, 'plugins');
  return namesIn(
    folder,
    (entry) =>
      entry.isDirectory() &&
      idPattern.test(entry.name) &&
      statSync(join(folder, entry.name, 'plugin.json'), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** The manifest of the app that a plugin belongs to, where it is there and sound. */
export function readAppOf(pluginPath: string): AppManifest | undefined {
  const path = join(appFolderOf('plugin', pluginPath), 'app.json');
  try {
    const stats = statSync(path);
    if (!stats.isFile() || stats.size > limits.manifestBytes) return undefined;
    return z.safeParse(appManifest, parseText(readFileSync(path, 'utf8')).value).data;
  } catch {
    return undefined;
  }
}

function namesIn(folder: string, isWanted: (entry: Dirent) => boolean): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .slice(0, mostNames)
      .filter((entry) => !entry.name.startsWith('.') && isWanted(entry))
      .map(({ name }) => name)
      .sort();
  } catch {
    return [];
  }
}

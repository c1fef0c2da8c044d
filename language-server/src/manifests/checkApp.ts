import type { Node } from 'jsonc-parser';
import { basename, dirname, join } from 'node:path';
import { idPattern, modulePattern, pagePattern } from '../../../protocol/src/manifests.ts';
import { appFolderOf, filesWith, pluginFolders, readAppOf } from './appFolder.ts';
import { replaceFix } from './edits.ts';
import { checkRequestUse } from './checkPermissions.ts';
import { checkHost } from './hosts.ts';
import { nearest } from './nearest.ts';
import { at, itemsOf, spanOf, textOf } from './nodes.ts';
import { pathKind } from './paths.ts';
import { problem, type Report } from './problem.ts';
import { reportRepeated } from './repeated.ts';

/** The rules of an app that its schema can't say: the page and the plugins are there, nothing is listed twice. */
export function checkApp(text: string, root: Node, path: string, report: Report): void {
  const folder = appFolderOf('app', path);
  checkFile(at(root, 'entry'), pagePattern, folder, ['.html'], report);
  reportRepeated(text, itemsOf(at(root, 'permissions', 'generate')), report);
  const plugins = itemsOf(at(root, 'plugins'));
  reportRepeated(text, plugins, report);
  for (const item of plugins) {
    const id = textOf(item);
    if (id === undefined || !idPattern.test(id)) continue;
    if (pathKind(join(folder, 'plugins', id, 'plugin.json')) === 'file') continue;
    const meant = nearest(id, pluginFolders(folder));
    const fix = meant === undefined ? undefined : replaceFix(spanOf(item), meant);
    report(problem('missing-plugin', spanOf(item), [id, meant], fix));
  }
}

/** The rules of a plugin that its schema can't say: the module is there, hosts are one owner's, the app lists it. */
export function checkPlugin(text: string, root: Node, path: string, report: Report): void {
  const folder = dirname(path);
  checkFile(at(root, 'entry'), modulePattern, folder, ['.js', '.mjs'], report);
  checkId(at(root, 'id'), path, report);
  const hosts = itemsOf(at(root, 'permissions', 'network'));
  for (const item of hosts) {
    const host = textOf(item);
    if (host !== undefined) checkHost(spanOf(item), host, report);
  }
  reportRepeated(text, hosts, report);
  reportRepeated(text, itemsOf(at(root, 'permissions', 'generate')), report);
  for (const wish of itemsOf(at(root, 'permissions', 'vault')))
    checkRequestUse(at(wish, 'use'), at(root, 'permissions', 'network'), report);
}

function checkId(node: Node | undefined, path: string, report: Report): void {
  const id = textOf(node);
  if (!node || id === undefined || !idPattern.test(id)) return;
  const folder = basename(dirname(path));
  if (folder !== id) {
    const fix = idPattern.test(folder) ? replaceFix(spanOf(node), folder) : undefined;
    return report(problem('plugin-folder', spanOf(node), [id, folder], fix));
  }
  const app = readAppOf(path);
  if (app && !app.plugins?.includes(id)) report(problem('unlisted-plugin', spanOf(node), [id]));
}

/** A file that a manifest names below its folder. What does not match the pattern was reported with the shape. */
function checkFile(
  node: Node | undefined,
  pattern: RegExp,
  folder: string,
  endings: readonly string[],
  report: Report,
): void {
  const path = textOf(node);
  if (!node || path === undefined || !pattern.test(path)) return;
  const kind = pathKind(join(folder, path));
  if (kind === 'file') return;
  const meant = nearest(path, filesWith(folder, endings));
  const fix = meant === undefined ? undefined : replaceFix(spanOf(node), meant);
  report(
    kind === 'absent'
      ? problem('missing-file', spanOf(node), [path, meant], fix)
      : problem('entry-not-file', spanOf(node), [path, kind], fix),
  );
}

import * as z from 'zod/mini';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import {
  appManifest,
  pluginManifest,
  type AppManifest,
  type PluginManifest,
} from '../../../protocol/src/manifests.ts';
import {
  covers,
  permissionsOfApp,
  permissionsOfPlugin,
  type Permission,
} from '../../../protocol/src/permissions.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { checkHost } from '../manifests/hosts.ts';
import { problemTexts } from '../messages.ts';
import { parseText } from '../manifests/parseText.ts';
import { collectProblems, startOfFile } from '../manifests/problem.ts';
import { issueTexts } from './issueText.ts';
import { packageKey, readPackages, type LockedPackage } from './packages/lockFile.ts';
import type { PermissionSet } from './permissionSet.ts';
import type { FrozenTree } from './tree/frozenTree.ts';

/** What a frozen app says of itself, parsed and checked. */
export interface AppContent {
  readonly manifest: AppManifest;
  /** By id, in the order of the manifest. */
  readonly plugins: ReadonlyMap<string, PluginManifest>;
  readonly packages: readonly LockedPackage[];
  readonly asked: PermissionSet;
}

/** Reads the manifests of a frozen app. Nothing of it runs. Throws `bad-app` with the file, what is wrong, and what to do. */
export function readApp(tree: FrozenTree): AppContent {
  if (!tree.has('app.json'))
    throw new UserError('bad-app', 'There is no app.json at its top, so this is no app of Sallyport.');
  const manifest = readManifest(tree, 'app.json', appManifest);
  if (!tree.has(manifest.entry))
    throw bad('app.json', `names the page ${manifest.entry}, which is not there`);
  const plugins = new Map<string, PluginManifest>();
  for (const id of manifest.plugins ?? []) {
    const path = `plugins/${id}/plugin.json`;
    if (plugins.has(id)) throw bad('app.json', `names the plugin ${id} twice`);
    if (!tree.has(path)) throw bad('app.json', `names the plugin ${id}, and there is no ${path}`);
    const plugin = readManifest(tree, path, pluginManifest);
    if (plugin.id !== id) throw bad(path, `says that it is ${plugin.id}; its folder is ${id}`);
    if (!tree.has(`plugins/${id}/${plugin.entry}`))
      throw bad(path, `names the module ${plugin.entry}, which is not there`);
    for (const host of plugin.permissions?.network ?? []) assertHost(path, host);
    for (const wish of plugin.permissions?.vault ?? []) assertWish(path, wish, plugin);
    plugins.set(id, plugin);
  }
  const packages = readPackages(textOf(tree, 'package.json'), textOf(tree, 'package-lock.json'));
  return { manifest, plugins, packages, asked: askedBy(manifest, plugins, packages) };
}

function askedBy(
  manifest: AppManifest,
  plugins: ReadonlyMap<string, PluginManifest>,
  packages: readonly LockedPackage[],
): PermissionSet {
  return {
    app: permissionsOfApp(manifest),
    plugins: Object.fromEntries(
      [...plugins].map(([id, plugin]) => [id, permissionsOfPlugin(plugin, manifest)]),
    ),
    packages: [...new Set(packages.map(packageKey))].sort(),
  };
}

function readManifest<S extends z.ZodMiniType>(tree: FrozenTree, path: string, schema: S): z.infer<S> {
  const text = decode(tree.read(path, limits.manifestBytes), path);
  const parsed = parseText(text);
  const [problem] = parsed.problems;
  if (problem) throw bad(path, `line ${lineAt(text, problem.start)}: ${problem.message}`);
  const fits = z.safeParse(schema, parsed.value);
  if (fits.success) return fits.data;
  throw bad(path, issueTexts(fits.error));
}

/** A host must name one owner's, as for cards: nobody can review `*.com`. */
function assertHost(path: string, host: string): void {
  const [problem] = collectProblems((report) => checkHost(startOfFile, host, report));
  if (problem) throw bad(path, problem.message);
}

/** A value is wished for whole hosts alone, and for such that the plugin may reach: a person sees both together. */
function assertWish(path: string, { use: { hosts } }: Wish, { permissions }: PluginManifest): void {
  for (const host of hosts) {
    assertHost(path, host);
    const asked: Permission = { name: 'network', host };
    const isListed = permissions?.network?.some((each) => covers({ name: 'network', host: each }, asked));
    if (isListed !== true) throw bad(path, problemTexts['vault-host-closed'](host));
  }
}

type Wish = NonNullable<NonNullable<PluginManifest['permissions']>['vault']>[number];

function textOf(tree: FrozenTree, path: string): string | null {
  return tree.has(path) ? decode(tree.read(path, lockBytes), path) : null;
}

const utf8 = new TextDecoder('utf-8', { fatal: true });
const lockBytes = 8 * 1024 * 1024;

function decode(bytes: Uint8Array, path: string): string {
  try {
    return utf8.decode(bytes);
  } catch {
    throw bad(path, 'is not UTF-8 text');
  }
}

function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

function bad(path: string, what: string): UserError {
  return new UserError('bad-app', `${path}: ${showHidden(what)}`, { path });
}

import type { Node } from 'jsonc-parser';
import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import type { AppManifestKind } from '../../../protocol/src/manifestLanguage.ts';
import { canWire, idPattern, portTypes, type PortType } from '../../../protocol/src/manifests.ts';
import { cardFile } from '../project/findCards.ts';
import type { LoadedProject } from '../project/model.ts';
import { filesWith, pluginFolders } from './appFolder.ts';
import type { ManifestContext } from './manifestContext.ts';
import { at, itemsOf, membersOf, textOf } from './nodes.ts';

/** A value that the project itself suggests, as JSON text. */
export interface KnownValue {
  readonly json: string;
  readonly detail?: string;
  readonly documentation?: string | undefined;
  readonly isReference?: boolean;
}

/** What the project knows to fit at a path: outputs for a wire, own outputs for the view, files for the entry. */
export function knownValues(context: ManifestContext, path: readonly (string | number)[]): KnownValue[] {
  if (context.kind === 'app' || context.kind === 'plugin') return appValues(context, context.kind, path);
  if (context.kind !== 'card') return [];
  const { root } = context.parsed;
  const [first, second, third] = path;
  if (first === 'inputs' && third === 'from' && path.length === 3) return sources(context, String(second));
  if (first === 'view' && second === 'output') {
    return membersOf(at(root, 'outputs')).map(({ key, value }) => named(key, textOf(at(value, 'type'))));
  }
  if (first === 'entry' && (path.length === 1 || second === 0)) return entryFiles(context.path);
  if (first === 'params' && third === 'default' && second !== undefined) {
    return itemsOf(at(root, 'params', second, 'choices')).flatMap((choice) => {
      const value = textOf(choice);
      return value === undefined ? [] : [named(value)];
    });
  }
  if (first === 'permissions' && second === 'environmentSources') {
    return Object.keys(context.project?.manifest?.environmentSources ?? {}).map((id) => named(id));
  }
  return [];
}

/** The page or module, the folder's name as the id, plugins that are not listed yet, hosts that a wish can be for. */
function appValues(
  { parsed, path: manifestPath }: ManifestContext,
  kind: AppManifestKind,
  path: readonly (string | number)[],
): KnownValue[] {
  const folder = dirname(manifestPath);
  const [first] = path;
  if (first === 'entry')
    return filesWith(folder, kind === 'app' ? ['.html'] : ['.js', '.mjs']).map((name) => named(name));
  if (first === 'id' && idPattern.test(basename(folder))) return [named(basename(folder))];
  if (kind === 'plugin' && first === 'permissions') return hostsOfWish(parsed.root, path);
  if (kind !== 'app' || first !== 'plugins') return [];
  const listed = itemsOf(at(parsed.root, 'plugins')).map(textOf);
  const written = typeof path[1] === 'number' ? listed[path[1]] : undefined;
  return pluginFolders(folder)
    .filter((id) => id === written || !listed.includes(id))
    .map((id) => named(id));
}

/** A value goes only to hosts that the plugin may reach and that are named whole. */
function hostsOfWish(root: Node | undefined, path: readonly (string | number)[]): KnownValue[] {
  const [, vault, , use, hosts] = path;
  if (vault !== 'vault' || use !== 'use' || hosts !== 'hosts') return [];
  const written = itemsOf(at(root, ...path.slice(0, 5))).map(textOf);
  const own = typeof path[5] === 'number' ? written[path[5]] : undefined;
  return itemsOf(at(root, 'permissions', 'network'))
    .flatMap((item) => textOf(item) ?? [])
    .filter((host) => !host.startsWith('*') && (host === own || !written.includes(host)))
    .map((host) => named(host));
}

function named(value: string, detail?: string): KnownValue {
  return { json: JSON.stringify(value), isReference: true, ...(detail === undefined ? {} : { detail }) };
}

/** Outputs of other cards that may feed an input, equal types first; none that would close a circle. */
function sources({ parsed, project, card }: ManifestContext, port: string): KnownValue[] {
  if (!project) return [];
  const wanted = textOf(at(parsed.root, 'inputs', port, 'type'));
  const type = portTypes.find((each) => each === wanted);
  const behind = card ? downstreamOf(card.id, project) : new Set<string>();
  const found: { readonly value: KnownValue; readonly type: PortType }[] = [];
  for (const { id, manifest } of project.cards.values()) {
    if (behind.has(id)) continue;
    for (const [output, { type: given, description }] of Object.entries(manifest?.outputs ?? {})) {
      if (type !== undefined && !canWire(given, type)) continue;
      const value = { ...named(`${id}/${output}`, given), documentation: description ?? manifest?.title };
      found.push({ value, type: given });
    }
  }
  return [...found.filter((each) => each.type === type), ...found.filter((each) => each.type !== type)].map(
    (each) => each.value,
  );
}

function downstreamOf(id: string, { graph }: LoadedProject): ReadonlySet<string> {
  const targets = Map.groupBy(graph.wires, (wire) => wire.fromCard);
  const seen = new Set([id]);
  for (const card of seen) for (const { toCard } of targets.get(card) ?? []) seen.add(toCard);
  return seen;
}

function entryFiles(manifestPath: string): KnownValue[] {
  try {
    return readdirSync(dirname(manifestPath), { withFileTypes: true })
      .filter((entry) => entry.isFile() && entry.name !== cardFile && !entry.name.startsWith('.'))
      .slice(0, 200)
      .map((entry) => named(entry.name));
  } catch {
    return [];
  }
}

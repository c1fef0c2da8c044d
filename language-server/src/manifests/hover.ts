import { findNodeAtOffset, getNodePath, type Node } from 'jsonc-parser';
import type { Hover } from 'vscode-languageserver';
import { defaultCardLimits } from '../../../protocol/src/limits.ts';
import { permissionSentence, type Permission } from '../../../protocol/src/permissions.ts';
import { isLocalHost } from '../apps/localHost.ts';
import { hoverTexts, plain, valueTexts } from '../messages.ts';
import { askedPermissions } from './askedPermissions.ts';
import type { ManifestContext } from './manifestContext.ts';
import { spanOf, textOf, valueOf } from './nodes.ts';
import { rangeOf } from './positions.ts';
import { schemaAt, schemas } from './schema.ts';

/** What a key means, what a port gives, what a permission opens. Text from manifests is escaped. */
export function hover(context: ManifestContext, offset: number): Hover | undefined {
  const { root } = context.parsed;
  const node = root && findNodeAtOffset(root, offset);
  if (!node || node.type === 'object' || node.type === 'array') return undefined;
  const isKey = node.parent?.type === 'property' && node.parent.children?.[0] === node;
  const path = getNodePath(node);
  const parts = [
    ...schemaWords(context, node, path, isKey),
    ...wireWords(context, node, path, isKey),
    ...permissionWords(context, path),
  ];
  if (parts.length === 0) return undefined;
  return {
    contents: { kind: 'markdown', value: parts.join('\n\n') },
    range: rangeOf(context.lines, spanOf(node)),
  };
}

type Path = readonly (string | number)[];

function schemaWords(context: ManifestContext, node: Node, path: Path, isKey: boolean): string[] {
  const schema = schemaAt(schemas[context.kind], context.parsed.root, path);
  const value = isKey ? undefined : (schema?.meanings ?? valueTexts)[String(valueOf(node))];
  const limit = path[0] === 'limits' && isKey ? limitDefaults.get(String(path[1])) : undefined;
  return [
    ...(schema?.description === undefined ? [] : [schema.description]),
    ...(value !== undefined && schema?.enum?.includes(String(valueOf(node))) ? [value] : []),
    ...(limit === undefined ? [] : [hoverTexts.default(limit)]),
  ];
}

const limitDefaults: ReadonlyMap<string, number> = new Map(Object.entries(defaultCardLimits));

function wireWords(context: ManifestContext, node: Node, path: Path, isKey: boolean): string[] {
  const wire = textOf(node);
  if (isKey || path[0] !== 'inputs' || path[2] !== 'from' || wire === undefined || !context.project)
    return [];
  const [card = '', port = ''] = wire.split('/');
  const manifest = context.project.cards.get(card)?.manifest;
  const outputs = manifest?.outputs;
  const output = outputs && Object.hasOwn(outputs, port) ? outputs[port] : undefined;
  if (!manifest || !output) return [hoverTexts.noSource()];
  return [hoverTexts.source(card, manifest.title, port, output.type, output.description)];
}

const permissionNames: ReadonlyMap<string, readonly Permission['name'][]> = new Map([
  ['network', ['network']],
  ['sandbox', ['unsandboxed']],
  ['hostFolders', ['hostFolder']],
  ['environmentSources', ['environmentSource']],
  ['executionService', ['execution']],
  ['vault', ['vaultItem', 'vaultWish']],
  ['generate', ['generate']],
  ['storage', ['storage']],
  ['storageMB', ['storage']],
  ['models', ['models']],
  ['results', ['results']],
]);

/** The sentences of the review, so that the person who writes a permission reads what others will be asked. */
function permissionWords(context: ManifestContext, path: Path): string[] {
  if (path[0] !== 'permissions') return [];
  const names = permissionNames.get(String(path[1])) ?? [];
  return (askedPermissions(context) ?? [])
    .filter((permission) => path.length === 1 || names.includes(permission.name))
    .map((permission) => {
      const isLocal =
        context.kind === 'plugin' && permission.name === 'network' && isLocalHost(permission.host);
      return `- ${plain(permissionSentence(permission))}${isLocal ? ` (${hoverTexts.local()})` : ''}`;
    });
}

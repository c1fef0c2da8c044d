import * as z from 'zod/mini';
import { defaultAppStorageMB } from './limits.ts';
import type { AppManifest, CardManifest, GenerateKind, PluginManifest } from './manifests.ts';
import type { VaultUse } from './vault.ts';
import { parseVaultUse, vaultPlaceWords, vaultUseText, vaultUseWords } from './vaultUse.ts';

/**
 * A permission is a small descriptor of something that is closed by default. Two sets of them are compared only by
 * `widening`, which everything that asks, accepts or enforces goes through.
 */
export const permission = z.discriminatedUnion('name', [
  /** `hosts` names hosts (`host`, `host:port`, `*.host`), `'all'` is the whole network. */
  z.strictObject({ name: z.literal('network'), host: z.string() }),
  z.strictObject({ name: z.literal('unsandboxed') }),
  z.strictObject({ name: z.literal('hostFolder'), path: z.string(), mount: z.string(), write: z.boolean() }),
  z.strictObject({ name: z.literal('environmentSource'), source: z.string() }),
  z.strictObject({ name: z.literal('execution'), service: z.string() }),
  z.strictObject({ name: z.literal('vaultItem'), item: z.string(), field: z.string(), use: z.string() }),
  /** What a plugin would like. Accepting it gives nothing: a person then chooses a value for it, or none. */
  z.strictObject({ name: z.literal('vaultWish'), item: z.string(), field: z.string(), use: z.string() }),
  z.strictObject({ name: z.literal('generate'), kind: z.string() }),
  z.strictObject({ name: z.literal('storage'), megabytes: z.int() }),
  z.strictObject({ name: z.literal('models') }),
  z.strictObject({ name: z.literal('results') }),
  z.strictObject({ name: z.literal('package'), specifier: z.string(), integrity: z.string() }),
]);
export type Permission = z.infer<typeof permission>;

/** The host value that means the whole network. */
export const wholeNetwork = '*';

/** The canonical key of a permission: equal keys are the same permission, and the key is what is stored. */
export function permissionKey(value: Permission): string {
  switch (value.name) {
    case 'network':
      return `network:${value.host}`;
    case 'unsandboxed':
      return 'unsandboxed';
    case 'hostFolder':
      return `hostFolder:${value.write ? 'write' : 'read'}:${value.mount}:${value.path}`;
    case 'environmentSource':
      return `environmentSource:${value.source}`;
    case 'execution':
      return `execution:${value.service}`;
    case 'vaultItem':
    case 'vaultWish':
      return `${value.name}:${value.item}:${value.field}:${value.use}`;
    case 'generate':
      return `generate:${value.kind}`;
    case 'storage':
      return `storage:${value.megabytes}`;
    case 'models':
      return 'models';
    case 'results':
      return 'results';
    case 'package':
      return `package:${value.specifier}:${value.integrity}`;
  }
}

/** True where having `accepted` makes asking for `asked` nothing new. A name that is not known covers nothing. */
export function covers(accepted: Permission, asked: Permission): boolean {
  if (permissionKey(accepted) === permissionKey(asked)) return true;
  if (accepted.name === 'network' && asked.name === 'network') return coversHost(accepted.host, asked.host);
  if (accepted.name === 'hostFolder' && asked.name === 'hostFolder') {
    return accepted.path === asked.path && accepted.mount === asked.mount && (accepted.write || !asked.write);
  }
  if (accepted.name === 'storage' && asked.name === 'storage') return accepted.megabytes >= asked.megabytes;
  return false;
}

/** The permissions of `asked` that no single one of `accepted` covers, in the order asked, each key once. */
export function widening(accepted: readonly Permission[], asked: readonly Permission[]): Permission[] {
  const seen = new Set<string>();
  return asked.filter((want) => {
    const key = permissionKey(want);
    if (seen.has(key)) return false;
    seen.add(key);
    return !accepted.some((have) => covers(have, want));
  });
}

/** What a card asks for beyond the default: the closed set, in canonical order. */
export function permissionsOfCard(card: CardManifest): Permission[] {
  const asked = card.permissions;
  if (!asked) return [];
  const list: Permission[] = [];
  if (asked.network === true) list.push({ name: 'network', host: wholeNetwork });
  if (Array.isArray(asked.network)) {
    for (const host of asked.network) list.push({ name: 'network', host });
  }
  if (asked.sandbox === false) list.push({ name: 'unsandboxed' });
  for (const folder of asked.hostFolders ?? []) {
    list.push({ name: 'hostFolder', path: folder.path, mount: folder.name, write: folder.write ?? false });
  }
  for (const source of asked.environmentSources ?? []) list.push({ name: 'environmentSource', source });
  if (asked.executionService !== undefined && asked.executionService !== 'local') {
    list.push({ name: 'execution', service: asked.executionService });
  }
  for (const use of asked.vault ?? []) {
    list.push({ name: 'vaultItem', item: use.item, field: use.field, use: vaultUseText(vaultUseOf(use)) });
  }
  return inOrder(list);
}

/** What an app's own page asks for, in canonical order. Its plugins ask for themselves: `permissionsOfPlugin`. */
export function permissionsOfApp(app: AppManifest): Permission[] {
  const asked = app.permissions;
  const list = generates(asked?.generate);
  if (asked?.storageMB !== undefined) list.push({ name: 'storage', megabytes: asked.storageMB });
  if (asked?.models === true) list.push({ name: 'models' });
  if (asked?.results === true) list.push({ name: 'results' });
  return inOrder(list);
}

/** What one plugin of an app asks for, in canonical order. Its storage is the app's, and counts with it. */
export function permissionsOfPlugin(
  plugin: PluginManifest,
  app: Pick<AppManifest, 'permissions'>,
): Permission[] {
  const asked = plugin.permissions;
  const list = generates(asked?.generate);
  for (const host of new Set(asked?.network)) list.push({ name: 'network', host });
  if (asked?.storage === true) {
    list.push({ name: 'storage', megabytes: app.permissions?.storageMB ?? defaultAppStorageMB });
  }
  for (const { item, field, use } of asked?.vault ?? []) {
    const wish: Permission = { name: 'vaultWish', item, field, use: vaultUseText(requestUse(use)) };
    if (!list.some((each) => permissionKey(each) === permissionKey(wish))) list.push(wish);
  }
  return inOrder(list);
}

function generates(kinds: readonly GenerateKind[] | undefined): Permission[] {
  return [...new Set(kinds)].map((kind) => ({ name: 'generate', kind }));
}

function inOrder(list: Permission[]): Permission[] {
  return list.sort((a, b) => compare(permissionKey(a), permissionKey(b)));
}

/** One plain sentence for a person, in Sallyport's words. Values come from parsed fields only. */
export function permissionSentence(value: Permission): string {
  switch (value.name) {
    case 'network':
      return value.host === wholeNetwork
        ? 'Reach the whole network, your local network included'
        : `Reach ${value.host} over the network`;
    case 'unsandboxed':
      return 'See the project’s own files and shared folders while it runs';
    case 'hostFolder':
      return value.write ? `Read and change the folder ${value.path}` : `Read the folder ${value.path}`;
    case 'environmentSource':
      return `Use the environment source ${value.source}`;
    case 'execution':
      return `Run on ${value.service} instead of this machine`;
    case 'vaultItem':
      return vaultSentence(value);
    case 'vaultWish':
      return wishSentence(value);
    case 'generate':
      return `Ask a connected model for ${value.kind}`;
    case 'storage':
      return `Store up to ${value.megabytes} MB`;
    case 'models':
      return 'See which models are connected';
    case 'results':
      return 'Read the results of the latest run of each open project';
    case 'package':
      return `Use the package ${value.specifier}`;
  }
}

type AskedVault = NonNullable<NonNullable<CardManifest['permissions']>['vault']>[number];
type AskedRequest = NonNullable<NonNullable<PluginManifest['permissions']>['vault']>[number]['use'];

function vaultUseOf({ env, use }: AskedVault): VaultUse {
  if (!use) return { kind: 'env', name: env ?? '' };
  if (use.type === 'env' || use.type === 'fd') return { kind: use.type, name: use.name };
  return requestUse(use);
}

function requestUse(use: AskedRequest): VaultUse {
  switch (use.type) {
    case 'header':
      return { kind: 'header', hosts: use.hosts, name: use.name, prefix: use.prefix ?? '' };
    case 'basic':
      return { kind: 'basic', hosts: use.hosts, user: use.user ?? '' };
    case 'query':
      return { kind: 'query', hosts: use.hosts, name: use.name };
  }
}

function vaultSentence({ item, field, use }: Extract<Permission, { name: 'vaultItem' }>): string {
  const parsed = parseVaultUse(use);
  return `Use ${field} of the vault item ${item} ${parsed ? vaultUseWords(parsed) : `(${use})`}`;
}

function wishSentence({ item, field, use }: Extract<Permission, { name: 'vaultWish' }>): string {
  const parsed = parseVaultUse(use);
  if (!parsed || !('hosts' in parsed)) return `Would like a vault value: ${field} of ${item} (${use})`;
  const place = vaultPlaceWords(parsed);
  return `Would like a vault value for ${parsed.hosts.join(', ')}: ${field} of ${item}, ${place}; you choose it, or none`;
}

function coversHost(accepted: string, asked: string): boolean {
  if (accepted === wholeNetwork) return true;
  if (asked === wholeNetwork) return false;
  const [acceptedName, acceptedPort] = splitPort(accepted);
  const [askedName, askedPort] = splitPort(asked);
  if (acceptedPort !== askedPort) return false;
  if (acceptedName === askedName) return true;
  if (!acceptedName.startsWith('*.')) return false;
  const suffix = acceptedName.slice(1);
  return askedName.length > suffix.length && askedName.endsWith(suffix);
}

/** A host without a port stands for 443 and 80; both are written as the empty port here. */
function splitPort(host: string): [string, string] {
  const match = /^(.*?)(?::([0-9]{1,5}))?$/.exec(host);
  return host.startsWith('[') && !/\]:[0-9]+$/.test(host)
    ? [host, '']
    : [match?.[1] ?? host, match?.[2] ?? ''];
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

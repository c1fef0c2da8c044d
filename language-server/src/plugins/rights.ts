import { BridgeError } from '../../../protocol/src/bridge.ts';
import type { Principal } from '../../../protocol/src/gate.ts';
import type { GenerateKind } from '../../../protocol/src/manifests.ts';
import { permissionKey, widening, type Permission } from '../../../protocol/src/permissions.ts';

/** What a plugin may do: the permissions that a person accepted and its manifest asks for. Nothing else opens a door. */
export type PluginRights = readonly Permission[];

/** The plugin that asks, as the engine knows it by its worker. */
export interface PluginIdentity {
  readonly app: string;
  readonly plugin: string;
  readonly rights: PluginRights;
  /** What grants of the vault are bound to. */
  readonly installation: string;
}

/** How logs and limits call it. */
export function principalOf({ app, plugin }: Pick<PluginIdentity, 'app' | 'plugin'>): Principal {
  return `plugin:${app}/${plugin}`;
}

/** Hosts that may be reached. */
export function hostsOf(rights: PluginRights): string[] {
  return rights.flatMap((right) => (right.name === 'network' ? [right.host] : []));
}

/** The keys of the values that it wished for, as a person saw them: what they gave for one counts only while it is here. */
export function wishesOf(rights: PluginRights): string[] {
  return rights.filter(({ name }) => name === 'vaultWish').map(permissionKey);
}

/** Throws `not-allowed` unless models of this kind may be asked. */
export function assertMayGenerate(rights: PluginRights, kind: GenerateKind): void {
  if (widening(rights, [{ name: 'generate', kind }]).length > 0)
    throw new BridgeError('not-allowed', `This plugin has no permission to ask a model for ${kind}`);
}

/** Bytes that the app may store. Throws `not-allowed` where the plugin may not store anything. */
export function storageLimitOf(rights: PluginRights): number {
  const megabytes = rights.flatMap((right) => (right.name === 'storage' ? [right.megabytes] : []));
  if (megabytes.length === 0)
    throw new BridgeError('not-allowed', 'This plugin has no permission to use the storage of its app');
  return Math.max(...megabytes) * 1024 * 1024;
}

import type { AppView } from '../../../../protocol/src/apps.ts';
import { canonicalHost } from '../grants.ts';
import type { WishOwner } from '../wishAnswers.ts';

/** A plugin that can be let use a value, and for which hosts. */
export interface PluginTarget {
  readonly app: string;
  readonly appName: string;
  readonly plugin: string;
  readonly installation: string;
  /** As a person accepted them; each is one host. */
  readonly hosts: readonly string[];
}

/**
 * The plugins that are installed and may reach one of the hosts that an item was saved for; all of theirs where it names
 * none. A rule that stands for many hosts is none of them: a value goes to hosts that were named.
 */
export function pluginTargets(apps: readonly AppView[], itemHosts: readonly string[]): PluginTarget[] {
  const saved = new Set(itemHosts.map(canonicalHost));
  return apps
    .filter(({ deletedUntil }) => deletedUntil === null)
    .flatMap(({ id, name, installation, plugins }) =>
      plugins
        .filter(({ state }) => state !== 'removed')
        .map(({ id: plugin, permissions }) => ({
          app: id,
          appName: name,
          plugin,
          installation,
          hosts: permissions.flatMap(({ permission }) =>
            permission.name === 'network' &&
            !permission.host.includes('*') &&
            (saved.size === 0 || saved.has(canonicalHost(permission.host)))
              ? [permission.host]
              : [],
          ),
        })),
    )
    .filter(({ hosts }) => hosts.length > 0);
}

/** Whose a grant is: by name, and bound to one installation. */
export function granteeOf({ app, plugin, installation }: Omit<PluginTarget, 'hosts' | 'appName'>): {
  readonly principal: string;
  readonly scope: string;
} {
  return { principal: `plugin:${app}/${plugin}`, scope: `app:${installation}` };
}

/**
 * The ids of grants whose plugin is no longer installed, or no longer the same installation, or that answer none of
 * these wishes.
 */
export function orphanedGrants(
  grants: readonly { readonly id: string; readonly principal: string; readonly scope: string }[],
  apps: readonly AppView[],
  wishes: readonly WishOwner[],
): string[] {
  const there = new Set([
    ...wishes.map(({ principal, scope }) => JSON.stringify({ principal, scope })),
    ...apps
      .filter(({ deletedUntil }) => deletedUntil === null)
      .flatMap(({ id, installation, plugins }) =>
        plugins
          .filter(({ state }) => state !== 'removed')
          .map(({ id: plugin }) => JSON.stringify(granteeOf({ app: id, plugin, installation }))),
      ),
  ]);
  return grants
    .filter(({ principal }) => principal.startsWith('plugin:'))
    .filter(({ principal, scope }) => !there.has(JSON.stringify({ principal, scope })))
    .map(({ id }) => id);
}

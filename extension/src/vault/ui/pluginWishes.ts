import type { AppView } from '../../../../protocol/src/apps.ts';
import { parseVaultUse } from '../../../../protocol/src/vaultUse.ts';
import type { RequestUse } from '../../../../remote-agent/src/vault/injection.ts';
import type { WishOwner } from '../wishAnswers.ts';
import { wishScope } from '../wishScope.ts';
import { granteeOf } from './pluginTargets.ts';

/** A value that an installed plugin would like its requests to carry, as a person saw it in the review. */
export interface PluginWish extends WishOwner {
  readonly app: string;
  readonly appName: string;
  readonly plugin: string;
  /** The key of the permission. */
  readonly key: string;
  /** What the plugin calls the value; it names nothing of the vault. */
  readonly item: string;
  readonly field: string;
  readonly use: RequestUse;
}

/** The wishes of plugins that are installed, in the order in which they are listed. */
export function wishesOf(apps: readonly AppView[]): PluginWish[] {
  return apps
    .filter(({ deletedUntil }) => deletedUntil === null)
    .flatMap(({ id: app, name, installation, plugins }) =>
      plugins
        .filter(({ state }) => state !== 'removed')
        .flatMap(({ id: plugin, permissions }) =>
          permissions.flatMap(({ key, permission }): PluginWish[] => {
            if (permission.name !== 'vaultWish') return [];
            const use = parseVaultUse(permission.use);
            if (!use || !('hosts' in use)) return [];
            const { principal, scope } = granteeOf({ app, plugin, installation });
            const { item, field } = permission;
            const owner = { principal, scope: wishScope(scope, key) };
            return [{ ...owner, app, appName: name, plugin, key, item, field, use }];
          }),
        ),
    );
}

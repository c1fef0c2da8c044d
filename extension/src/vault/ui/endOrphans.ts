import { together, type Disposable } from '../../disposable.ts';
import type { Services } from '../../services.ts';
import { orphanedGrants } from './pluginTargets.ts';
import { wishesOf } from './pluginWishes.ts';

/**
 * Revokes grants of plugins that are gone, of wishes that they no longer have, and of wishes for which a person wants no
 * value, as soon as the engine tells of it and their vault is open. They had ended before: an installation that comes
 * again is another one, and so is a wish that changed.
 */
export function endOrphans({ engine, log, vault }: Pick<Services, 'engine' | 'log' | 'vault'>): Disposable {
  const { answers, vaults } = vault;
  const look = async (): Promise<void> => {
    const open = [vaults.agents.status, vaults.personal.status].flatMap((status) =>
      status.state === 'open' ? [status.vault] : [],
    );
    const kept = open.map((each) => ({
      vault: each,
      grants: each.grants().filter(({ state }) => state === 'accepted' || state === 'pending'),
    }));
    const isAnyGranted = kept.some(({ grants }) =>
      grants.some(({ principal }) => principal.startsWith('plugin:')),
    );
    if (!isAnyGranted && answers.isEmpty) return;
    const apps = await engine.call('app/list', {});
    const wishes = wishesOf(apps);
    await answers.keepOnly(wishes);
    const wanted = wishes.filter((wish) => answers.of(wish) !== 'none');
    for (const { vault: each, grants } of kept)
      for (const id of orphanedGrants(grants, apps, wanted)) await each.revoke(id);
  };
  const quietly = (): void =>
    void look().catch((error: unknown) => log.error('Failed to end grants of plugins that are gone', error));
  return together(
    engine.on('app/changed', quietly),
    engine.onDidChangeState((state) => {
      if (state === 'running') quietly();
    }),
  );
}

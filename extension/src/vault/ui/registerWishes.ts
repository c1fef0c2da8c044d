import { ThemeIcon, window } from 'vscode';
import type { AppView } from '../../../../protocol/src/apps.ts';
import { parseAppTarget, type AppTarget } from '../../apps/appTarget.ts';
import type { Disposable } from '../../disposable.ts';
import type { Services } from '../../services.ts';
import { VaultError } from '../core/vaultState.ts';
import { answerWish, type AnswerWishParts } from './answerWish.ts';
import { wishesOf, type PluginWish } from './pluginWishes.ts';
import type { VaultDoors } from './vaultDoors.ts';
import { vaultNotices } from './vaultNotices.ts';
import { vaultProblem } from './vaultWords.ts';
import { wishState, type WishState } from './wishState.ts';
import { wishWords as words } from './wishWords.ts';

/** What plugins wish for: asked once after an install, and whenever the person wants to change the answer. */
export function registerWishes(services: Services, doors: VaultDoors): Disposable {
  const { commands, engine, notifier, vault } = services;
  const { vaults, answers } = vault;
  const parts: AnswerWishParts = {
    openVaults: () => vaults.open(),
    isPersonalLocked: () => {
      vaults.personal.look();
      return vaults.personal.status.state === 'locked';
    },
    unlock: () => doors.open('personal'),
    add: () => commands.run('sallyport.addVaultItem'),
    review: (grant) => commands.run('sallyport.reviewVaultRequests', grant),
    now: () => Date.now(),
  };

  /** False where nothing was decided. */
  const ask = async (wish: PluginWish): Promise<boolean> => {
    const answer = await answerWish(wish, parts);
    if (answer === undefined) return false;
    await answers.put(wish, answer);
    if (answer === 'none') notifier.show(words.noneGiven(wish));
    return true;
  };

  const answer = async ({ app, plugin, wish }: AppTarget): Promise<void> => {
    const all = wishesOf(await engine.call('app/list', {})).filter(
      (each) =>
        (app === undefined || each.app === app) &&
        (plugin === undefined || each.plugin === plugin) &&
        (wish === undefined || each.key === wish),
    );
    const [only, ...others] = all;
    if (!only) {
      notifier.show(words.noWishes());
      return;
    }
    const waiting = app === undefined ? [] : all.filter((each) => answers.of(each) === undefined);
    for (const each of waiting) {
      if (await ask(each)) continue;
      notifier.show(words.waits(each));
      return;
    }
    if (waiting.length > 0) return;
    const chosen = others.length === 0 ? only : await choose(all, (each) => stateOf(services, each));
    if (chosen) await ask(chosen);
  };

  return commands.register('sallyport.choosePluginValues', async (...args) => {
    try {
      await answer(parseAppTarget(args));
    } catch (error) {
      if (!(error instanceof VaultError)) throw error;
      notifier.show(vaultNotices.failed(vaultProblem(error)));
    }
  });
}

/** Wishes of one app that nobody has answered. */
export function unansweredOf(app: AppView, { answers }: Services['vault']): PluginWish[] {
  return wishesOf([app]).filter((wish) => answers.of(wish) === undefined);
}

/** What became of a wish, by the vaults as they are open now. */
export function stateOf(
  { vault: { vaults, answers } }: Pick<Services, 'vault'>,
  wish: PluginWish,
): WishState {
  const statuses = [vaults.agents.status, vaults.personal.status];
  return wishState(
    wish,
    answers,
    {
      open: statuses.flatMap((status) => (status.state === 'open' ? [status.vault] : [])),
      isComplete: statuses.every(({ state }) => state === 'open' || state === 'absent'),
    },
    Date.now(),
  );
}

async function choose(
  wishes: readonly PluginWish[],
  state: (wish: PluginWish) => WishState,
): Promise<PluginWish | undefined> {
  const lines = wishes.map((wish) => ({
    label: words.title(wish),
    description: words.state(state(wish)),
    detail: `${words.called(wish)} · ${words.how(wish)}`,
    iconPath: new ThemeIcon('plug'),
    wish,
  }));
  const chosen = await window.showQuickPick(lines, { title: words.choose(), ignoreFocusOut: true });
  return chosen?.wish;
}

import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import { plain } from '../../plainText.ts';
import type { Vault } from '../core/vaultContract.ts';
import { canonicalHost, strayHost } from '../grants.ts';
import type { WishAnswer } from '../wishAnswers.ts';
import type { PluginWish } from './pluginWishes.ts';
import { vaultName } from './vaultWords.ts';
import { grantsFor } from './wishState.ts';
import { wishWords as words } from './wishWords.ts';

export interface AnswerWishParts {
  readonly openVaults: () => Promise<readonly Vault[]>;
  readonly isPersonalLocked: () => boolean;
  /** Asks the person to unlock the personal vault. */
  readonly unlock: () => Promise<void>;
  /** Lets the person add an item to a vault. */
  readonly add: () => Promise<void>;
  /** Puts the request with this id to the person. */
  readonly review: (grant: string) => Promise<void>;
  readonly now: () => number;
}

interface Chosen {
  readonly vault: Vault;
  readonly item: string;
  readonly field: string;
}

interface Line extends QuickPickItem {
  readonly value?: Chosen;
  readonly act?: 'unlock' | 'add' | 'none' | 'later';
}

/**
 * Lets a person choose the value that a plugin's requests are to carry, or none, and puts the grant for exactly that
 * before them. `given` where they allowed it, `none` where they want none, undefined where nothing was decided: then
 * what was in force before stays.
 */
export async function answerWish(wish: PluginWish, parts: AnswerWishParts): Promise<WishAnswer | undefined> {
  for (;;) {
    const vaults = await parts.openVaults();
    const chosen = await window.showQuickPick(linesOf(wish, vaults, parts), {
      title: words.title(wish),
      placeHolder: words.placeHolder(),
      matchOnDescription: true,
      matchOnDetail: true,
      ignoreFocusOut: true,
    });
    if (!chosen || chosen.act === 'later') return undefined;
    if (chosen.value) return give(wish, chosen.value, parts);
    if (chosen.act === 'unlock') await parts.unlock();
    else if (chosen.act === 'add') await parts.add();
    else if (chosen.act === 'none') {
      await endAll(wish, vaults);
      return 'none';
    }
  }
}

async function give(
  wish: PluginWish,
  { vault, item, field }: Chosen,
  { review, openVaults, now }: AnswerWishParts,
): Promise<WishAnswer | undefined> {
  const { principal, scope, use } = wish;
  const limits = { count: null, until: null };
  const { id } = await vault.ask({ item, field, principal, scope, use, limits, reason: '' });
  await review(id);
  const state = vault.isLocked ? undefined : vault.grants().find((grant) => grant.id === id)?.state;
  if (state === 'accepted') {
    await endAll(wish, await openVaults(), id);
    return 'given';
  }
  // Nothing waits for an answer that nobody needs any more.
  if (state === 'pending') await vault.revoke(id);
  const isGiven = grantsFor(wish, await openVaults(), now()).length > 0;
  return state === 'declined' && !isGiven ? 'none' : undefined;
}

/** Revokes what was given for a wish, but for the grant `kept`. */
async function endAll(wish: PluginWish, vaults: readonly Vault[], kept?: string): Promise<void> {
  for (const vault of vaults)
    for (const { id, principal, scope, state } of vault.grants())
      if (
        principal === wish.principal &&
        scope === wish.scope &&
        id !== kept &&
        (state === 'accepted' || state === 'pending')
      )
        await vault.revoke(id);
}

function linesOf(
  wish: PluginWish,
  vaults: readonly Vault[],
  { isPersonalLocked, now }: Pick<AnswerWishParts, 'isPersonalLocked' | 'now'>,
): Line[] {
  const separator = (label: string): Line => ({ label, kind: QuickPickItemKind.Separator });
  const act = (label: string, icon: string, what: Line['act']): Line => ({
    label,
    iconPath: new ThemeIcon(icon),
    act: what,
  });
  const given = grantsFor(wish, vaults, now()).map(({ vault, grant }) => ({
    label: words.now(vault.get(grant.item)?.title ?? grant.item, grant.field),
  }));
  const values = valuesFor(wish, vaults);
  return [
    separator(words.wished()),
    { label: words.called(wish) },
    { label: words.how(wish) },
    ...given,
    ...(values.length === 0 ? [] : [separator(words.values()), ...values]),
    separator(words.answer()),
    ...(isPersonalLocked() ? [act(words.unlock(), 'unlock', 'unlock')] : []),
    act(words.add(), 'add', 'add'),
    act(words.none(), 'circle-slash', 'none'),
    act(words.later(), 'arrow-right', 'later'),
  ];
}

/**
 * Values that may go to all of its hosts, secrets before what is no secret. Those that the person saved for one of the
 * hosts come first: the name is the plugin's word, and says less.
 */
function valuesFor(wish: PluginWish, vaults: readonly Vault[]): Line[] {
  const hosts = new Set(wish.use.hosts.map(canonicalHost));
  return vaults
    .flatMap((vault) =>
      vault
        .list()
        .filter(({ kind }) => kind !== 'keyPair' && kind !== 'certificate')
        .filter((item) => strayHost(wish.use, item.hosts) === undefined)
        .flatMap((item) =>
          item.fields.map(({ name, kind }) => {
            const isNamed = item.id === wish.item && name === wish.field;
            const isFitting = item.hosts.some((host) => hosts.has(canonicalHost(host)));
            const notes = [
              ...(isNamed ? [words.sameName()] : []),
              ...(isFitting ? [words.fitting()] : []),
              ...item.hosts.map(plain),
            ];
            const line: Line = {
              label: words.value(item.title, name),
              description: vaultName(vault.kind),
              ...(notes.length > 0 && { detail: notes.join(' · ') }),
              iconPath: new ThemeIcon('key'),
              value: { vault, item: item.id, field: name },
            };
            const isPublic = kind === 'text' || kind === 'publicKey';
            return { line, rank: (isPublic ? 3 : 0) + (isFitting ? 0 : isNamed ? 1 : 2) };
          }),
        ),
    )
    .sort((a, b) => a.rank - b.rank)
    .map(({ line }) => line);
}

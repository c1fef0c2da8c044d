import { createHash } from 'node:crypto';
import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import type { Reports } from '../../documents/reports.ts';
import type { Notifier } from '../../notifier.ts';
import { showHidden } from '../../../../protocol/src/text.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import type { Grant, GrantLimits } from '../core/grants.ts';
import type { Vault } from '../core/vaultContract.ts';
import { isWishScope } from '../wishScope.ts';
import { grantee, grantSentence, grantWords } from './grantWords.ts';
import { vaultNotices } from './vaultNotices.ts';
import { wishWords } from './wishWords.ts';

export interface WaitingGrant {
  readonly vault: Vault;
  readonly grant: Grant;
}

export interface RequestReviewerOptions {
  /** What waits in the open vaults, oldest first. */
  readonly waiting: () => Promise<readonly WaitingGrant[]>;
  /** The name of an open project by its scope. */
  readonly projectOf: (scope: string) => Promise<string | undefined>;
  readonly person: Presence;
  readonly notifier: Notifier;
  readonly reports: Pick<Reports, 'show'>;
  readonly now: () => number;
}

/** The only way to answer a request for a value: a native list that this file opens, one request after another. */
export class RequestReviewer {
  readonly #options: RequestReviewerOptions;
  #isOpen = false;

  constructor(options: RequestReviewerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** One request after another; only the one with this id where it is given. */
  async review(only?: string): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    try {
      const left = new Set<string>();
      for (;;) {
        const all = (await this.#options.waiting()).filter(
          ({ grant }) => only === undefined || grant.id === only,
        );
        const next = all.find(({ grant }) => !left.has(grant.id));
        if (!next) {
          if (only === undefined && all.length === 0 && left.size === 0)
            this.#options.notifier.show(vaultNotices.nothingWaits());
          return;
        }
        left.add(next.grant.id);
        if (!(await this.#one(next, all.length - left.size))) return;
      }
    } finally {
      this.#isOpen = false;
    }
  }

  /** A person's yes to a grant, with presence where its item is in the personal vault. False where there was none. */
  async allow({ vault, grant }: WaitingGrant, limits: GrantLimits): Promise<boolean> {
    const { person, notifier } = this.#options;
    if (vault.kind === 'personal') {
      const act = approvalAct(vault, grant, limits);
      const proof = await person.prove(act);
      const now = vault.grants().find(({ id }) => id === grant.id);
      if (!proof || !now || !person.spend(proof, approvalAct(vault, now, limits))) return false;
    }
    await vault.answer(grant.id, 'accepted', limits);
    notifier.show(vaultNotices.granted(sentenceOf(vault, grant)));
    return true;
  }

  /** False where the list was closed. Allowing is not offered before a text that the list cuts was opened. */
  async #one(waiting: WaitingGrant, left: number): Promise<boolean> {
    const { vault, grant } = waiting;
    const { notifier, reports } = this.#options;
    const asked = await this.#asked(waiting);
    let isRead = asked.every((line) => Array.from(line).length <= lineCharacters);
    for (;;) {
      const chosen = await window.showQuickPick(this.#lines(waiting, asked, isRead), {
        title: grantWords.title(left),
        placeHolder: grantWords.answer(),
        ignoreFocusOut: true,
      });
      if (!chosen) return false;
      if (chosen.isText) {
        const title = grantWords.textTitle();
        await reports.show(title, `${[title, '', ...asked].join('\n')}\n`, { preserveFocus: true });
        isRead = true;
        continue;
      }
      if (chosen.limits) await this.allow(waiting, chosen.limits);
      else if (chosen.isDecline) {
        await vault.answer(grant.id, 'declined');
        notifier.show(vaultNotices.declined());
      } else if (!chosen.isLater) continue;
      return true;
    }
  }

  /** Who, what, how, where, and what the asker says: a line each. */
  async #asked({ vault, grant }: WaitingGrant): Promise<string[]> {
    const { scope, principal, field, item, reason } = grant;
    return [
      grantee(principal),
      grantWords.what(field, vault.get(item)?.title ?? item),
      grantWords.how(grant),
      ...(await this.#where(principal, scope)),
      vault.kind === 'personal' ? grantWords.inPersonal() : grantWords.inAgents(),
      ...(reason === '' ? [] : [grantWords.reason(reason)]),
    ];
  }

  /** What the grant is bound to; a connection belongs to no project, and goes without saying. */
  async #where(principal: string, scope: string): Promise<string[]> {
    if (principal.startsWith('plugin:'))
      return [isWishScope(scope) ? wishWords.forWish() : grantWords.forInstallation()];
    if (principal.startsWith('connection:')) return [];
    if (scope === '') return [grantWords.noProject()];
    const project = await this.#options.projectOf(scope);
    return [project === undefined ? grantWords.otherProject() : grantWords.project(project)];
  }

  #lines({ grant }: WaitingGrant, asked: readonly string[], isRead: boolean): AnswerItem[] {
    const separator = (label: string): AnswerItem => ({ label, kind: QuickPickItemKind.Separator });
    const answer = (label: string, icon: string, rest: Partial<AnswerItem>): AnswerItem => ({
      label,
      iconPath: new ThemeIcon(icon),
      ...rest,
    });
    const hour = this.#options.now() + 60 * 60 * 1000;
    return [
      separator(grantWords.asked()),
      ...asked.map((label) => ({ label })),
      separator(grantWords.answer()),
      ...(isRead
        ? [
            answer(grantWords.once(), 'check', { limits: { count: 1, until: null } }),
            answer(grantWords.hour(), 'clock', { limits: { count: null, until: hour } }),
            answer(grantWords.asWished(grant.limits), 'check-all', { limits: grant.limits }),
          ]
        : [answer(grantWords.openText(), 'book', { isText: true, description: grantWords.readFirst() })]),
      answer(grantWords.decline(), 'close', { isDecline: true }),
      answer(grantWords.later(), 'arrow-right', { isLater: true }),
    ];
  }
}

/** What a list surely shows of one line at its narrowest. */
const lineCharacters = 72;

interface AnswerItem extends QuickPickItem {
  readonly limits?: GrantLimits;
  readonly isDecline?: boolean;
  readonly isText?: boolean;
  readonly isLater?: boolean;
}

/** The grant in words; where its item is gone, by its id. */
export function sentenceOf(vault: Vault, grant: Grant): string {
  return grantSentence(grant, vault.get(grant.item)?.title ?? showHidden(grant.item));
}

/** Bound to all of the grant and to the limits that the person chose. */
function approvalAct(vault: Vault, grant: Grant, limits: GrantLimits): PresenceAct {
  const { id, item, field, principal, scope, use, itemVersion } = grant;
  const bound = canonicalJson({
    vault: vault.id,
    grant: { id, item, field, principal, scope, use, itemVersion },
    limits: { ...limits },
  });
  return {
    name: 'approveGrant',
    grantId: id,
    digest: createHash('sha256').update(bound).digest('hex'),
    sentence: sentenceOf(vault, grant),
  };
}

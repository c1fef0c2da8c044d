import { ThemeIcon, window, type QuickPickItem } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import type { Approval } from '../../../protocol/src/gate.ts';
import { agentNotices, approvalWords } from '../agentMessages.ts';
import type { Reports } from '../documents/reports.ts';
import type { Engine } from '../engine.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import { plain, short } from '../plainText.ts';
import { approvalReport, explanationReport } from './approvalText.ts';
import { offeredGrant } from './approvalLines.ts';
import { pickAnswer } from './approvalPick.ts';
import { askQuestion } from './questionPick.ts';
import type { PersonQuestion } from './personQuestions.ts';
import type { WaitingList } from './waitingList.ts';

export interface WaitingReviewerOptions {
  readonly engine: Engine;
  readonly list: WaitingList;
  readonly reports: Reports;
  readonly notifier: Notifier;
  readonly log: Log;
}

type Chosen =
  | { readonly kind: 'approval'; readonly approval: Approval }
  | { readonly kind: 'question'; readonly question: PersonQuestion }
  | { readonly kind: 'decline-all' };

/**
 * The only way to answer what the gate asks: lists that this file opens, answered by a person, bound to the digest of
 * what the list showed. No command, message or setting carries an answer.
 */
export class WaitingReviewer {
  readonly #options: WaitingReviewerOptions;
  #isOpen = false;

  constructor(options: WaitingReviewerOptions) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Goes on while something waits and the person goes on. One review at a time; a second call does nothing. */
  async review(): Promise<void> {
    if (this.#isOpen) return;
    this.#isOpen = true;
    try {
      await this.#options.list.refresh();
      if (this.#options.list.count === 0) this.#options.notifier.show(agentNotices.nothingWaits());
      else while (await this.#reviewOne());
    } finally {
      this.#isOpen = false;
    }
  }

  /** False where the person turned away or nothing waits any more. */
  async #reviewOne(): Promise<boolean> {
    const { approvals, questions } = this.#options.list.waiting;
    const count = approvals.length + questions.length;
    if (count === 0) return false;
    const [only] = approvals;
    const chosen: Chosen | undefined =
      count === 1 && only ? { kind: 'approval', approval: only } : await this.#choose();
    switch (chosen?.kind) {
      case undefined:
        return false;
      case 'decline-all':
        await this.#declineAll();
        return false;
      case 'question':
        return askQuestion(chosen.question);
      case 'approval':
        return this.#ask(chosen.approval, count > 1);
    }
  }

  async #choose(): Promise<Chosen | undefined> {
    const { approvals, questions } = this.#options.list.waiting;
    const items: (QuickPickItem & { chosen: Chosen })[] = [
      ...approvals.map((approval) => ({
        label: short(approval.title, 100),
        description: plain(approvalWords.asker(approval.principal, approval.conversationTitle)),
        detail: plain(approval.rule.text),
        iconPath: new ThemeIcon(approval.isFlagged ? 'warning' : 'shield'),
        chosen: { kind: 'approval', approval } as const,
      })),
      ...questions.map((question) => ({
        label: short(question.question, 100),
        description: approvalWords.isQuestion(),
        iconPath: new ThemeIcon('comment-discussion'),
        chosen: { kind: 'question', question } as const,
      })),
    ];
    if (approvals.length > 1) {
      items.push({
        label: approvalWords.declineAll(approvals.length),
        iconPath: new ThemeIcon('close-all'),
        chosen: { kind: 'decline-all' },
      });
    }
    const title = approvalWords.listTitle(approvals.length + questions.length);
    const chosen = await window.showQuickPick(items, { title, placeHolder: approvalWords.listPlaceholder() });
    return chosen?.chosen;
  }

  async #ask(approval: Approval, hasList: boolean): Promise<boolean> {
    const { list, reports, notifier, log } = this.#options;
    const isWaiting = (): boolean =>
      list.waiting.approvals.some(
        ({ id, reviewDigest }) => id === approval.id && reviewDigest === approval.reviewDigest,
      );
    let isWithdrawn = !isWaiting();
    const show = ({ title, text }: { title: string; text: string }): Promise<void> =>
      reports.show(title, text, { preserveFocus: true });
    const choice = isWithdrawn
      ? 'gone'
      : await pickAnswer(approval, {
          hasList,
          openText: () => show(approvalReport(approval)),
          explain: () => show(explanationReport(approval)),
          onWithdrawn: (listener) =>
            list.onDidChange(() => {
              if (isWaiting()) return;
              isWithdrawn = true;
              listener();
            }),
          onError: (error) => {
            log.error('Failed to show an approval', error);
            notifier.showError(error);
          },
        });
    if (choice === 'back') return true;
    if (choice === 'gone') {
      if (isWithdrawn) notifier.show(agentNotices.noLongerWaits());
      return isWithdrawn;
    }
    await this.#answer(approval, choice);
    return true;
  }

  async #answer(approval: Approval, choice: 'allow-once' | 'decline' | 'grant'): Promise<void> {
    const { engine, list, notifier } = this.#options;
    const { id, reviewDigest, root } = approval;
    try {
      if (choice === 'grant') {
        const grant = offeredGrant(approval);
        if (!grant) throw new UserError('conflict', approvalWords.noGrantWould());
        await engine.call('grant/give', { root, ...grant, folder: '' });
      }
      const answer = choice === 'decline' ? 'decline' : 'allow-once';
      await engine.call('approval/answer', { id, reviewDigest, answer });
    } catch (error) {
      if (!(error instanceof UserError) || error.code !== 'conflict') throw error;
      notifier.show(agentNotices.noLongerWaits());
    }
    await list.refresh();
  }

  async #declineAll(): Promise<void> {
    const { engine, list, notifier } = this.#options;
    const { declined } = await engine.call('approval/declineAll', {});
    notifier.show(agentNotices.declinedAll(declined));
    await list.refresh();
  }
}

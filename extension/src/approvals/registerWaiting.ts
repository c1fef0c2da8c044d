import { StatusBarAlignment, ThemeColor, window } from 'vscode';
import { agentLabels } from '../agentMessages.ts';
import { parseTarget } from '../commandTarget.ts';
import { together, type Disposable } from '../disposable.ts';
import type { Services } from '../services.ts';
import { reviewGrants } from './grants.ts';
import { PersonQuestions } from './personQuestions.ts';
import { WaitingReviewer } from './reviewWaiting.ts';
import { WaitingNotice } from './waitingNotice.ts';
import { wouldThisAsk } from './wouldThisAsk.ts';

/** Review What Waits, Grants, Would This Ask?, the count in the status bar, and the one notification. */
export function registerWaiting(services: Services): Disposable {
  const { commands, engine, log, notifier, picker, reports, waiting } = services;
  const reviewer = new WaitingReviewer({ engine, list: waiting, reports, notifier, log });
  const questions = new PersonQuestions((each) => waiting.setQuestions(each));
  const review = async (): Promise<void> => {
    try {
      await reviewer.review();
    } catch (error) {
      notifier.showError(error);
    }
  };
  const notice = new WaitingNotice(review, () => reviewer.isOpen, log);
  const item = window.createStatusBarItem('sallyport.waiting', StatusBarAlignment.Left, 9);
  item.name = agentLabels.waitingName();
  item.command = 'sallyport.reviewWaiting';
  item.backgroundColor = new ThemeColor('statusBarItem.warningBackground');
  return together(
    item,
    waiting.onDidChange((now) => {
      const { count } = waiting;
      notice.update(now);
      if (count === 0) return item.hide();
      item.text = `$(bell-dot) ${agentLabels.waitingCount(count)}`;
      item.tooltip = agentLabels.waitingTooltip();
      item.accessibilityInformation = { label: agentLabels.waitingSpoken(count), role: 'button' };
      item.show();
    }),
    engine.onDidChangeState((state) => {
      if (state !== 'running') waiting.clear();
    }),
    engine.handle({ 'person/ask': (params, signal) => questions.ask(params, signal) }),
    commands.register('sallyport.reviewWaiting', () => reviewer.review()),
    commands.register('sallyport.showGrants', async (...args) =>
      reviewGrants(await picker.project(parseTarget(args)), services),
    ),
    commands.register('sallyport.wouldThisAsk', async (...args) =>
      wouldThisAsk(await picker.project(parseTarget(args)), services),
    ),
  );
}

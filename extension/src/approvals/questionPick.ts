import { window, type QuickPickItem } from 'vscode';
import { approvalWords } from '../agentMessages.ts';
import { plain, short } from '../plainText.ts';
import type { PersonQuestion } from './personQuestions.ts';

interface AnswerItem extends QuickPickItem {
  /** Null turns the question away. */
  readonly answer: string | null;
}

/** Puts the agent's question to a person. True where it was answered or turned away; closing the list leaves it waiting. */
export function askQuestion(question: PersonQuestion): Promise<boolean> {
  const pick = window.createQuickPick<AnswerItem>();
  const offered = question.choices.map((choice): AnswerItem => ({ label: plain(choice), answer: choice }));
  const away: AnswerItem = { label: approvalWords.noAnswer(), alwaysShow: true, answer: null };
  const draw = (typed: string): void => {
    const own: AnswerItem = {
      label: approvalWords.ownAnswer(short(typed, 200)),
      alwaysShow: true,
      answer: typed,
    };
    pick.items = typed.trim() === '' ? [...offered, away] : [own, ...offered, away];
  };
  pick.title = approvalWords.questionTitle(short(question.conversationTitle ?? '', 40));
  pick.placeholder = plain(question.question);
  pick.ignoreFocusOut = true;
  draw('');
  return new Promise((resolve) => {
    const end = (isAnswered: boolean): void => {
      resolve(isAnswered);
      pick.dispose();
    };
    pick.onDidChangeValue(draw);
    pick.onDidAccept(() => {
      const [chosen] = pick.selectedItems;
      if (!chosen) return;
      question.answer(chosen.answer);
      end(true);
    });
    pick.onDidHide(() => end(false));
    pick.show();
  });
}

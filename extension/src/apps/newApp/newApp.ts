import { join } from 'node:path';
import { ThemeIcon, type QuickPickItem } from 'vscode';
import { newAppNotices, newAppWords as words } from '../../newAppMessages.ts';
import { pickStep, textStep, type Step } from '../../native/steps.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import { idProblem, nameProblem } from './checkNewApp.ts';
import { composeApp, suggestId, type AppLanguage, type AppParts, type AppTemplate } from './composeApp.ts';
import type { NewAppFolder } from './newAppFolder.ts';

export interface NewAppOptions {
  readonly readTemplate: () => Promise<AppTemplate>;
  readonly folder: NewAppFolder;
  readonly notifier: Notifier;
}

/** What was answered so far; a step that is gone back to shows it again. */
interface Answers {
  name?: string;
  id?: string;
  parts?: AppParts;
  language?: AppLanguage;
  parent?: string;
}

interface Choice<T> extends QuickPickItem {
  readonly value: T;
}

const totalSteps = 5;

/** New App: asks step by step, writes a small app that works into a folder of its own, and opens it. */
export class NewApp {
  readonly #options: NewAppOptions;
  readonly #written = new Set<string>();

  constructor(options: NewAppOptions) {
    this.#options = options;
  }

  /** True for a folder that a person had written here: Install App takes no other one from an argument. */
  hasWritten(folder: string): boolean {
    return this.#written.has(folder);
  }

  async run(): Promise<void> {
    const { folder: disk, notifier, readTemplate } = this.#options;
    const template = await readTemplate();
    const answers: Answers = {};
    for (let from = 0; ; from = totalSteps - 1) {
      if (!(await this.#ask(answers, from))) return;
      const { name = '', id = '', parts = 'page', language = 'javascript', parent = '' } = answers;
      const folder = join(parent, id);
      if (await disk.isEmpty(folder)) {
        await disk.write(folder, composeApp(template, { name, id, parts, language }));
        this.#written.add(folder);
        await disk.show(folder);
        notifier.show(newAppNotices.written(name, folder));
        return;
      }
      notifier.show(newAppNotices.notEmpty(folder));
    }
  }

  /** Asks all steps from one on. False where the person turned away. */
  async #ask(answers: Answers, from: number): Promise<boolean> {
    const steps = [nameStep, idStep, partsStep, languageStep, this.#whereStep];
    for (let at = from; ;) {
      const step = steps[at];
      if (!step) return true;
      const kind = await step(answers);
      if (kind === 'gone') return false;
      at += kind === 'back' ? -1 : 1;
    }
  }

  readonly #whereStep = async (answers: Answers): Promise<StepEnd> => {
    const { folder: disk } = this.#options;
    const id = answers.id ?? '';
    for (;;) {
      const chosen = await pickStep<Choice<string | undefined>>({
        ...place(5),
        placeholder: words.wherePlaceholder(),
        items: [
          ...disk.open().map(({ name, path }) => ({
            label: words.inFolder(name),
            detail: plain(join(path, 'apps', id)),
            iconPath: new ThemeIcon('root-folder'),
            value: join(path, 'apps'),
          })),
          {
            label: words.otherFolder(),
            detail: words.otherFolderDetail(id),
            iconPath: new ThemeIcon('folder-opened'),
            value: undefined,
          },
        ],
      });
      if (chosen.kind !== 'value') return chosen.kind;
      const parent = chosen.value.value ?? (await disk.choose(words.openLabel()));
      if (parent === undefined) continue;
      answers.parent = parent;
      return 'value';
    }
  };
}

type StepEnd = Step<unknown>['kind'];

async function nameStep(answers: Answers): Promise<StepEnd> {
  const typed = await textStep({
    ...place(1),
    prompt: words.namePrompt(),
    placeholder: words.namePlaceholder(),
    value: answers.name ?? '',
    check: (text) => say(nameProblem(text), words.nameProblem),
  });
  if (typed.kind !== 'value') return typed.kind;
  const name = typed.value.trim();
  // An id that was only suggested follows the name.
  if (answers.id === suggestId(answers.name ?? '')) delete answers.id;
  answers.name = name;
  return 'value';
}

async function idStep(answers: Answers): Promise<StepEnd> {
  const typed = await textStep({
    ...place(2),
    prompt: words.idPrompt(),
    value: answers.id ?? suggestId(answers.name ?? ''),
    check: (text) => say(idProblem(text), words.idProblem),
  });
  if (typed.kind === 'value') answers.id = typed.value;
  return typed.kind;
}

async function partsStep(answers: Answers): Promise<StepEnd> {
  const chosen = await pickStep<Choice<AppParts>>({
    ...place(3),
    placeholder: words.partsPlaceholder(),
    items: (['page', 'plugin'] as const).map((value) => ({
      label: words.parts(value),
      detail: words.partsDetail(value),
      iconPath: new ThemeIcon(value === 'page' ? 'window' : 'plug'),
      value,
    })),
  });
  if (chosen.kind === 'value') answers.parts = chosen.value.value;
  return chosen.kind;
}

async function languageStep(answers: Answers): Promise<StepEnd> {
  const chosen = await pickStep<Choice<AppLanguage>>({
    ...place(4),
    placeholder: words.languagePlaceholder(),
    items: (['javascript', 'typescript'] as const).map((value) => ({
      label: words.language(value),
      detail: words.languageDetail(value, answers.parts ?? 'page'),
      iconPath: new ThemeIcon('code'),
      value,
    })),
  });
  if (chosen.kind === 'value') answers.language = chosen.value.value;
  return chosen.kind;
}

function place(step: number) {
  return { title: words.title(), step, totalSteps };
}

function say<P>(problem: P | undefined, words: (problem: P) => string): string | undefined {
  return problem === undefined ? undefined : words(problem);
}

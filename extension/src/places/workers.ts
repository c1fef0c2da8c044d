import { hostname, userInfo } from 'node:os';
import { ThemeIcon, window } from 'vscode';
import type { WorkerView } from '../../../protocol/src/pinnedWorker.ts';
import { parsePlace } from '../../../protocol/src/places.ts';
import type { Engine } from '../engine.ts';
import { askSure } from '../native/askSure.ts';
import { textStep, type Step } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import { placeChoose as words, placeNotices, placeQuestions } from '../placeViewMessages.ts';
import { plain, short } from '../plainText.ts';
import type { PlacesList } from './placesList.ts';
import { withStop } from './withStop.ts';

const invitationPattern = /^\s*sallyport-worker:\/\/[^\s/]+\/#\S+\s*$/;
const ownNamePattern = /^[\p{L}\p{N} ._@-]{1,64}$/u;

/** Enrolling at workers, and forgetting them. */
export class Workers {
  readonly #engine: Engine;
  readonly #list: PlacesList;
  readonly #notifier: Notifier;

  constructor(engine: Engine, list: PlacesList, notifier: Notifier) {
    this.#engine = engine;
    this.#list = list;
    this.#notifier = notifier;
  }

  /** Asks for an invitation, hidden, and two names. The worker, or undefined where a person turned away. */
  async enrol(): Promise<WorkerView | undefined> {
    const workers = await this.#engine.call('worker/list', {});
    const answers = await this.#ask(new Set(workers.map(({ name }) => name)));
    if (!answers) return undefined;
    const worker = await withStop(words.enrolling(), (signal) =>
      this.#engine.call('worker/enrol', answers, signal),
    );
    this.#list.forget();
    this.#notifier.show(placeNotices.enrolled(worker.name, worker.host));
    return worker;
  }

  /** Forgets the named worker, else the one that is chosen. */
  async forget(named: string | undefined): Promise<void> {
    const workers = await this.#engine.call('worker/list', {});
    if (workers.length === 0) {
      this.#notifier.show(placeNotices.noWorkers());
      return;
    }
    const items = workers.map((worker) => ({
      label: short(worker.name),
      description: `${plain(worker.host)}:${worker.port}`,
      detail: plain(worker.fingerprint),
      iconPath: new ThemeIcon('server'),
      worker,
    }));
    const found = workers.find(({ name }) => named === `worker:${name}`);
    const worker = found ?? (await window.showQuickPick(items, { placeHolder: words.worker() }))?.worker;
    if (!worker || !(await askSure(placeQuestions.forget(worker.name)))) return;
    await this.#engine.call('worker/forget', { name: worker.name });
    this.#list.forget();
    this.#notifier.show(placeNotices.forgotten(worker.name));
  }

  async #ask(taken: ReadonlySet<string>): Promise<{ code: string; name: string; as: string } | undefined> {
    const steps: readonly ((given: readonly string[]) => Promise<Step<string>>)[] = [
      () =>
        textStep({
          ...this.#step(1),
          prompt: words.invitation(),
          isSecret: true,
          check: (text) => (invitationPattern.test(text) ? undefined : words.invitationProblem()),
        }),
      ([code = '']) =>
        textStep({
          ...this.#step(2),
          prompt: words.workerName(),
          value: nameFor(code, taken),
          check: (text) =>
            parsePlace(`worker:${text}`) && !taken.has(text) ? undefined : words.workerNameProblem(),
        }),
      () =>
        textStep({
          ...this.#step(3),
          prompt: words.ownName(),
          value: ownName(),
          check: (text) => (ownNamePattern.test(text) ? undefined : words.ownNameProblem()),
        }),
    ];
    const given: string[] = [];
    while (given.length < steps.length) {
      const answer = await steps[given.length]?.(given);
      if (answer?.kind === 'value') given.push(answer.value);
      else if (answer?.kind === 'back') given.pop();
      else return undefined;
    }
    const [code = '', name = '', as = ''] = given;
    return { code: code.trim(), name, as };
  }

  #step(step: number) {
    return { title: words.enrolTitle(), step, totalSteps: 3 };
  }
}

/** The first word of the host that an invitation names, where it is a name and free. */
function nameFor(code: string, taken: ReadonlySet<string>): string {
  const host = /^\s*sallyport-worker:\/\/([A-Za-z][A-Za-z0-9-]*)/.exec(code)?.[1] ?? '';
  return taken.has(host) ? '' : host;
}

function ownName(): string {
  try {
    return `${userInfo().username}@${hostname()}`.replace(/[^\p{L}\p{N} ._@-]/gu, '-').slice(0, 64);
  } catch {
    return '';
  }
}

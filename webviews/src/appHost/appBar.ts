import { words } from '../ui/words.ts';

export interface AppBarOptions {
  onReload(): void;
  onStop(): void;
}

/** The shell's own bar above the app: what state it is in, and the way to reload or stop it. It works while an app hangs. */
export class AppBar {
  readonly element: HTMLElement;
  readonly #name = span('app-name');
  readonly #status = span('app-status');
  readonly #reload: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;

  constructor(options: AppBarOptions) {
    this.element = document.createElement('div');
    this.element.className = 'app-bar';
    this.element.setAttribute('role', 'toolbar');
    this.element.setAttribute('aria-label', words.app.bar);
    this.#status.setAttribute('role', 'status');
    this.#reload = button(words.app.reload, () => options.onReload());
    this.#stop = button(words.app.stop, () => options.onStop());
    const hint = span('app-hint');
    hint.textContent = words.app.leaveHint;
    this.element.append(this.#name, this.#status, hint, this.#reload, this.#stop);
  }

  setName(name: string): void {
    this.#name.textContent = name;
  }

  /** `isProblem` marks a sentence that a person should not miss. */
  say(text: string, isProblem = false): void {
    this.#status.textContent = text;
    this.#status.classList.toggle('is-problem', isProblem);
  }

  setRunning(isRunning: boolean): void {
    this.#stop.disabled = !isRunning;
    this.#reload.textContent = isRunning ? words.app.reload : words.app.start;
  }

  focus(): void {
    this.#reload.focus();
  }
}

function span(className: string): HTMLSpanElement {
  const element = document.createElement('span');
  element.className = className;
  return element;
}

function button(label: string, onClick: () => void): HTMLButtonElement {
  const element = document.createElement('button');
  element.type = 'button';
  element.textContent = label;
  element.addEventListener('click', onClick);
  return element;
}

import { words } from '../ui/words.ts';

export interface AppBarOptions {
  onReload(): void;
  onStop(): void;
}

/** The shell's own bar above the app: what state it is in, and the way to reload or stop it. It works while an app hangs. */
export class AppBar {
  readonly element: HTMLElement;
  readonly #name = element('h1', 'app-name');
  readonly #status = element('span', 'app-status');
  readonly #reload: HTMLButtonElement;
  readonly #stop: HTMLButtonElement;

  constructor(options: AppBarOptions) {
    this.element = element('header', 'app-bar');
    this.element.setAttribute('aria-label', words.app.bar);
    this.#status.setAttribute('role', 'status');
    this.#reload = button(words.app.reload, () => options.onReload());
    this.#stop = button(words.app.stop, () => options.onStop());
    const hint = element('span', 'app-hint');
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

function element(tag: 'header' | 'h1' | 'span', className: string): HTMLElement {
  const made = document.createElement(tag);
  made.className = className;
  return made;
}

function button(label: string, onClick: () => void): HTMLButtonElement {
  const made = document.createElement('button');
  made.type = 'button';
  made.textContent = label;
  made.addEventListener('click', onClick);
  return made;
}

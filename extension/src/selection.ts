import type { CommandTarget } from './commandTarget.ts';

/** The line that is selected in the Cards view: what a key pressed there is about. */
export class Selection {
  #read: () => CommandTarget | undefined = () => undefined;

  /** Called once by the view that has the selection. */
  set(read: () => CommandTarget | undefined): void {
    this.#read = read;
  }

  get(): CommandTarget | undefined {
    return this.#read();
  }
}

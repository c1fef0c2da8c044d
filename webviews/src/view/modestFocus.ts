/**
 * Keeps a page from taking the keyboard: in Chromium any frame may focus itself while a person types elsewhere in the
 * window, and gets the keys. What a page focuses while it has not the keyboard is focused when a person comes to it.
 * Must run before the page's own code. The shell of an app is told of every change as well, and judges (`appView.ts`).
 */
export function keepFocusModest(window: Window & typeof globalThis): void {
  const { document } = window;
  let later: (() => void) | undefined;
  window.addEventListener('focus', () => {
    const act = later;
    later = undefined;
    act?.();
  });
  const guard = (owner: object, name: 'focus' | 'showModal') => {
    const native = Reflect.get(owner, name) as (...args: unknown[]) => void;
    const apply = Reflect.apply;
    const hasFocus = document.hasFocus.bind(document);
    Object.defineProperty(owner, name, {
      configurable: true,
      writable: true,
      value(this: unknown, ...args: unknown[]) {
        if (hasFocus()) apply(native, this, args);
        else if (this !== window) later = () => apply(native, this, args);
      },
    });
  };
  guard(window.HTMLElement.prototype, 'focus');
  guard(window.SVGElement.prototype, 'focus');
  guard(window.MathMLElement.prototype, 'focus');
  guard(window.HTMLDialogElement.prototype, 'showModal');
  guard(window, 'focus');
}

/** Tells when this window gets and loses the keyboard. Listens first, so that no code of the page can keep it back. */
export function tellFocus(window: Window, tell: (hasKeyboard: boolean) => void): void {
  window.addEventListener('focus', () => tell(true), true);
  window.addEventListener('blur', () => tell(false), true);
}

/** The key that moves between parts of the window, as in VS Code. */
const leaveKey = 'F6';

/** Keys pressed in a frame reach nobody else, so this one has to ask. It is the only one that is told, and without its name. */
export function leaveByKey(window: Window, leave: () => void): void {
  window.addEventListener(
    'keydown',
    (event) => {
      if (event.key !== leaveKey || event.ctrlKey || event.altKey || event.metaKey) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      leave();
    },
    true,
  );
}

/** Puts the focus back where it was in the page, or at its beginning. */
export function enterPage(document: Document): void {
  window.focus();
  if (document.activeElement instanceof HTMLElement && document.activeElement !== document.body) {
    document.activeElement.focus();
  }
}

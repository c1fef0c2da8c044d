import { window, type InputBox } from 'vscode';

/**
 * Closes a box whose text is nobody's to keep. VS Code sends changes of a box a moment later and shows every box in the
 * same element, so a box that is closed at once leaves its text there.
 */
export function closeForgetting(box: InputBox): void {
  box.value = '';
  setTimeout(() => box.dispose(), 0);
}

/** As `closeForgetting`, for a box that a person closed: what is no longer shown is not changed, so another box is. */
export function forgetClosed(box: InputBox): void {
  box.value = '';
  box.dispose();
  const empty = window.createInputBox();
  empty.show();
  setTimeout(() => empty.dispose(), 0);
}

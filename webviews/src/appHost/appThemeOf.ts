import type { AppTheme } from '../../../protocol/src/bridge.ts';
import { viewThemeOf } from '../ui/viewThemeOf.ts';

/** The theme of a webview's document: every variable that VS Code set on it, and what its classes say. */
export function appThemeOf(document: Document): AppTheme {
  const { kind, reducedMotion } = viewThemeOf(document);
  const { style } = document.documentElement;
  const variables: Record<string, string> = {};
  for (const name of style) {
    const value = style.getPropertyValue(name).trim();
    if (/^--vscode-[A-Za-z0-9-]{1,100}$/.test(name) && value.length <= 1000) variables[name] = value;
  }
  return {
    kind,
    reducedMotion,
    screenReader: document.body.classList.contains('vscode-using-screen-reader'),
    variables,
  };
}

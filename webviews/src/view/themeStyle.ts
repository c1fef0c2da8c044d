import type { ViewTheme } from '../../../protocol/src/webview.ts';

/** Gives the frame's root the theme's colours and fonts, through CSSOM so that no value is read as markup. */
export function applyTheme(document: Document, theme: ViewTheme): void {
  const { style } = document.documentElement;
  style.colorScheme = theme.kind === 'light' || theme.kind === 'high-contrast-light' ? 'light' : 'dark';
  style.background = theme.background;
  style.color = theme.foreground;
  style.fontFamily = theme.fontFamily;
  style.fontSize = theme.fontSize;
  document.body.style.margin = '0';
}

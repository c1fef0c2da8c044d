import type { ViewTheme } from '../../../protocol/src/webview.ts';

/** The theme of a webview's document, from the variables and classes that VS Code sets on it. */
export function viewThemeOf(document: Document): ViewTheme {
  const style = getComputedStyle(document.documentElement);
  const value = (name: string, fallback: string) => style.getPropertyValue(name).trim() || fallback;
  return {
    kind: themeKind(document.body),
    foreground: value('--vscode-editor-foreground', '#cccccc'),
    background: value('--vscode-editor-background', '#1f1f1f'),
    border: value('--vscode-panel-border', '#808080'),
    accent: value('--vscode-focusBorder', '#0078d4'),
    fontFamily: value('--vscode-font-family', 'sans-serif'),
    fontSize: value('--vscode-font-size', '13px'),
    monospaceFamily: value('--vscode-editor-font-family', 'monospace'),
    reducedMotion:
      document.body.classList.contains('vscode-reduce-motion') ||
      matchMedia('(prefers-reduced-motion: reduce)').matches,
  };
}

/** Calls `changed` after VS Code switched the theme. Returns what stops it. */
export function onThemeChange(document: Document, changed: (theme: ViewTheme) => void): () => void {
  const observer = new MutationObserver(() => changed(viewThemeOf(document)));
  observer.observe(document.body, { attributes: true, attributeFilter: ['class'] });
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['style'] });
  return () => observer.disconnect();
}

function themeKind(body: HTMLElement): ViewTheme['kind'] {
  const has = (name: string) => body.classList.contains(name);
  if (has('vscode-high-contrast-light')) return 'high-contrast-light';
  if (has('vscode-high-contrast')) return 'high-contrast';
  return has('vscode-light') ? 'light' : 'dark';
}

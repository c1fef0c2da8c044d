import type { AppTheme } from '../../../protocol/src/bridge.ts';
import { appBaseStyle } from './appBaseStyle.ts';

const kindClasses: Readonly<Record<AppTheme['kind'], readonly string[]>> = {
  light: ['vscode-light'],
  dark: ['vscode-dark'],
  'high-contrast': ['vscode-high-contrast'],
  'high-contrast-light': ['vscode-high-contrast', 'vscode-high-contrast-light'],
};
const ownClasses = [...new Set(Object.values(kindClasses).flat()), 'vscode-reduce-motion'];

/**
 * What VS Code gives a webview of its own and this frame would not have: the theme's variables, its kind, and a base style in a layer, which any rule of the app overrides. Values go in
 * through CSSOM, so none is read as markup.
 */
export class AppStyles {
  readonly #document: Document;
  readonly #base = new CSSStyleSheet();
  readonly #theme = new CSSStyleSheet();
  readonly #variables: CSSStyleDeclaration;

  constructor(document: Document) {
    this.#document = document;
    this.#base.replaceSync(appBaseStyle);
    this.#theme.replaceSync('@layer sallyport { :root {} }');
    const layer = this.#theme.cssRules[0] as CSSLayerBlockRule;
    this.#variables = (layer.cssRules[0] as CSSStyleRule).style;
  }

  /** Puts the sheets into the document, before its first byte. */
  put(): void {
    this.#document.adoptedStyleSheets = [this.#base, this.#theme];
  }

  setTheme(theme: AppTheme): void {
    this.#variables.cssText = '';
    for (const [name, value] of Object.entries(theme.variables)) this.#variables.setProperty(name, value);
    const isLight = theme.kind === 'light' || theme.kind === 'high-contrast-light';
    this.#variables.setProperty('color-scheme', isLight ? 'light' : 'dark');
    const root = this.#document.querySelector('html');
    if (root) markKind(root, theme);
  }
}

/** Says on a root element what kind of theme it is, as VS Code does on the body of a webview. */
export function markKind(root: HTMLElement, theme: AppTheme): void {
  root.classList.remove(...ownClasses);
  root.classList.add(...kindClasses[theme.kind]);
  root.classList.toggle('vscode-reduce-motion', theme.reducedMotion);
  root.dataset['vscodeThemeKind'] = theme.kind;
}

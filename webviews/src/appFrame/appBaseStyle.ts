/**
 * How an app's page looks that brings no style: VS Code's fonts, colours and controls. It stands in a layer, so that it
 * loses against every rule of the app; only a person's wish for less motion wins.
 */
export const appBaseStyle = `
@layer sallyport {
  *, ::before, ::after { box-sizing: border-box; }
  body {
    margin: 0;
    padding: 16px 20px;
    color: var(--vscode-foreground);
    background: var(--vscode-editor-background);
    font: var(--vscode-font-weight, 400) var(--vscode-font-size, 13px)/1.5 var(--vscode-font-family, sans-serif);
  }
  h1 { font-size: 1.7em; font-weight: 600; line-height: 1.25; }
  h2 { font-size: 1.3em; font-weight: 600; }
  h3 { font-size: 1em; font-weight: 600; }
  a { color: var(--vscode-textLink-foreground); }
  a:hover { color: var(--vscode-textLink-activeForeground); }
  code, kbd, pre, samp { font-family: var(--vscode-editor-font-family, monospace); }
  hr { border: 0; border-top: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, #8884)); }
  :focus-visible { outline: 1px solid var(--vscode-focusBorder); outline-offset: 1px; }
  button, input, select, textarea { font: inherit; border-radius: 2px; }
  button {
    padding: 4px 12px;
    color: var(--vscode-button-foreground);
    background: var(--vscode-button-background);
    border: 1px solid var(--vscode-button-border, var(--vscode-contrastBorder, transparent));
    cursor: pointer;
  }
  button:hover { background: var(--vscode-button-hoverBackground); }
  button.secondary {
    color: var(--vscode-button-secondaryForeground);
    background: var(--vscode-button-secondaryBackground);
    border-color: var(--vscode-button-secondaryBorder, var(--vscode-button-border, var(--vscode-contrastBorder, transparent)));
  }
  button.secondary:hover { background: var(--vscode-button-secondaryHoverBackground); }
  button:disabled { opacity: 0.5; cursor: default; }
  input:not([type='checkbox'], [type='radio'], [type='range'], [type='color']), select, textarea {
    padding: 4px 8px;
    color: var(--vscode-input-foreground);
    background: var(--vscode-input-background);
    border: 1px solid var(--vscode-input-border, var(--vscode-contrastBorder, transparent));
  }
  select {
    color: var(--vscode-dropdown-foreground);
    background: var(--vscode-dropdown-background);
    border-color: var(--vscode-dropdown-border, var(--vscode-contrastBorder, transparent));
  }
  ::placeholder { color: var(--vscode-input-placeholderForeground); opacity: 1; }
  input:focus, select:focus, textarea:focus { outline: 1px solid var(--vscode-focusBorder); outline-offset: -1px; }
  input[type='checkbox'], input[type='radio'], input[type='range'] { accent-color: var(--vscode-button-background); }
  table { border-collapse: collapse; }
  th, td { padding: 4px 10px; text-align: left; border-bottom: 1px solid var(--vscode-panel-border, #8884); }
  ::selection { background: var(--vscode-editor-selectionBackground); color: var(--vscode-editor-selectionForeground); }
}
html.vscode-reduce-motion *, html.vscode-reduce-motion ::before, html.vscode-reduce-motion ::after {
  animation-duration: 0.01ms !important;
  animation-iteration-count: 1 !important;
  transition-duration: 0.01ms !important;
  scroll-behavior: auto !important;
}
`;

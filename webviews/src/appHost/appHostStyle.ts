/**
 * How the shell of an app looks. It is part of the script: a style sheet of its own would be one more request before
 * anything is drawn.
 */
export const appHostStyle = `
  html,
  body,
  #root {
    height: 100%;
    margin: 0;
    padding: 0;
  }
  #root {
    display: flex;
    flex-direction: column;
    color: var(--vscode-foreground);
    font-family: var(--vscode-font-family);
    font-size: var(--vscode-font-size);
  }
  .app-bar {
    display: flex;
    flex-wrap: wrap;
    gap: 2px 10px;
    align-items: center;
    padding: 2px 8px 2px 16px;
    min-height: 28px;
    box-sizing: border-box;
    background: var(--vscode-editor-background);
    border-bottom: 1px solid var(--vscode-panel-border, var(--vscode-contrastBorder, transparent));
  }
  .app-name {
    margin: 0;
    font-size: inherit;
    font-weight: 600;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
    max-width: 40%;
  }
  .app-status {
    flex: 1;
    min-width: 4em;
    overflow-wrap: anywhere;
  }
  .app-status.is-problem::before {
    content: '⚠ ';
  }
  .app-hint {
    color: var(--vscode-descriptionForeground);
  }
  /* Still read aloud: the way out by keyboard is told to those who need it most. */
  @media (max-width: 400px) {
    .app-hint {
      position: absolute;
      width: 1px;
      height: 1px;
      overflow: hidden;
      clip-path: inset(50%);
      white-space: nowrap;
    }
  }
  .app-bar button {
    padding: 2px 8px;
    color: var(--vscode-foreground);
    background: transparent;
    border: 1px solid var(--vscode-contrastBorder, transparent);
    border-radius: 4px;
    font: inherit;
    cursor: pointer;
  }
  .app-bar button:hover:not(:disabled) {
    background: var(--vscode-toolbar-hoverBackground);
    outline: 1px dashed var(--vscode-contrastActiveBorder, transparent);
  }
  .app-bar button:focus-visible {
    outline: 1px solid var(--vscode-focusBorder);
  }
  .app-bar button:disabled {
    opacity: 0.5;
    cursor: default;
  }
  .app-body {
    flex: 1;
    min-height: 0;
  }
  .app-body iframe {
    display: block;
    width: 100%;
    height: 100%;
    border: 0;
    background: var(--vscode-editor-background);
  }
`;

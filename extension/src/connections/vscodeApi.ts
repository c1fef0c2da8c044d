import * as vscode from 'vscode';

type Vscode = typeof vscode;

/** VS Code's language models and chat, where this VS Code has them. Some builds and older versions do not. */
export const vscodeApi: Partial<Pick<Vscode, 'lm' | 'chat'>> = { lm: vscode.lm, chat: vscode.chat };

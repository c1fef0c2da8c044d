import { env, window, workspace } from 'vscode';
import { textStep } from '../../native/steps.ts';
import { itemLimits, type FieldKind } from '../core/items.ts';
import { Secret } from '../core/secret.ts';
import { editWords } from './vaultWords.ts';

/** True for kinds whose value has line breaks: VS Code's boxes have one line. */
export function hasLines(kind: FieldKind): boolean {
  return kind === 'lines' || kind === 'privateKey' || kind === 'publicKey' || kind === 'certificate';
}

/** A value that a person types, hidden as it is typed where it is a secret. Undefined where they leave it. */
export async function typeValue(
  title: string,
  field: { readonly name: string; readonly kind: FieldKind },
): Promise<Secret | undefined> {
  const asked = await textStep({
    title,
    step: 1,
    totalSteps: 1,
    prompt: editWords.valuePrompt(field.name),
    isSecret: field.kind === 'secret' || hasLines(field.kind),
    check: (text) => (text === '' ? editWords.valueEmpty() : undefined),
  });
  return asked.kind === 'value' ? Secret.fromText(asked.value) : undefined;
}

/** The clipboard's text; the clipboard is emptied. Undefined, after a word, where it holds none. */
export async function valueOfClipboard(): Promise<Secret | undefined> {
  const text = await env.clipboard.readText();
  if (text === '') {
    void window.showWarningMessage(editWords.clipboardEmpty());
    return undefined;
  }
  await env.clipboard.writeText('');
  return Secret.fromText(text);
}

/** The bytes of a file that a person chooses. */
export async function valueOfFile(): Promise<Secret | undefined> {
  const [file] = (await window.showOpenDialog({ canSelectMany: false })) ?? [];
  if (!file) return undefined;
  const { size } = await workspace.fs.stat(file);
  if (size > itemLimits.valueBytes) {
    void window.showWarningMessage(editWords.fileTooLarge());
    return undefined;
  }
  const bytes = await workspace.fs.readFile(file);
  const value = Secret.copy(bytes);
  bytes.fill(0);
  return value;
}

import { ThemeIcon, window } from 'vscode';
import type { Secret } from '../core/secret.ts';
import { hasLines, typeValue, valueOfClipboard, valueOfFile } from './askValue.ts';
import type { FormField } from './itemForm.ts';
import { editWords, revealWords } from './vaultWords.ts';

/** What a person does with one field: a fresh value, or the field goes. */
export type FieldAct = { readonly kind: 'value'; readonly value: Secret } | { readonly kind: 'remove' };

export async function askFieldAct(title: string, field: FormField): Promise<FieldAct | undefined> {
  const acts = [
    ...(hasLines(field.kind)
      ? []
      : [{ label: editWords.fieldActs.set(), icon: 'edit', value: () => typeValue(title, field) }]),
    {
      label: editWords.fieldActs.clipboard(),
      description: editWords.clipboardNote(),
      icon: 'clippy',
      value: valueOfClipboard,
    },
    { label: editWords.fieldActs.file(), icon: 'file', value: valueOfFile },
    ...(hasLines(field.kind)
      ? [{ label: editWords.fieldActs.set(), icon: 'edit', value: () => typeValue(title, field) }]
      : []),
    { label: editWords.fieldActs.remove(), icon: 'trash', value: undefined },
  ].map(({ icon, ...act }) => ({ ...act, iconPath: new ThemeIcon(icon) }));
  const chosen = await window.showQuickPick(acts, {
    title: revealWords.title(field.name, title),
    ignoreFocusOut: true,
  });
  if (!chosen) return undefined;
  if (!chosen.value) return { kind: 'remove' };
  const value = await chosen.value();
  return value && { kind: 'value', value };
}

import { QuickPickItemKind, ThemeIcon, window, type QuickPickItem } from 'vscode';
import { textStep } from '../../native/steps.ts';
import { timestamp } from '../../figures.ts';
import { plain } from '../../plainText.ts';
import { fieldKinds } from '../core/items.ts';
import { askFieldAct } from './fieldActs.ts';
import {
  badHost,
  badTag,
  changesOf,
  fieldNameProblem,
  listOf,
  parseDay,
  withValue,
  type FormField,
  type ItemForm,
} from './itemForm.ts';
import { editWords, fieldKindWord } from './vaultWords.ts';

type Part = 'save' | 'title' | 'hosts' | 'tags' | 'expiry' | 'add' | { readonly field: string };

interface PartItem extends QuickPickItem {
  readonly part?: Part;
}

/**
 * A native list of an item's parts, which a person changes one by one; `before` is what counts as unchanged. Resolves
 * with what is to be saved, or undefined where it is thrown away, after a question if something was changed. No stored
 * value comes here.
 */
export async function editForm(given: ItemForm, before: ItemForm): Promise<ItemForm | undefined> {
  let form = given;
  for (;;) {
    const chosen = await window.showQuickPick(partItems(form, before), {
      title: editWords.formTitle(form.title, form.baseVersion === 0),
      placeHolder: editWords.formPlaceholder(),
      ignoreFocusOut: true,
    });
    if (!chosen?.part) {
      if (changesOf(form, before) === 0 || (await isThrownAway())) return undefined;
      continue;
    }
    if (chosen.part === 'save') {
      if (changesOf(form, before) > 0 || form.baseVersion === 0) return form;
      continue;
    }
    form = await changePart(form, chosen.part);
  }
}

async function isThrownAway(): Promise<boolean> {
  const { text, button, back } = editWords.discardQuestion();
  return (await window.showWarningMessage(text, { modal: true }, button, back)) === button;
}

async function changePart(form: ItemForm, part: Exclude<Part, 'save'>): Promise<ItemForm> {
  if (typeof part === 'object') {
    const field = form.fields.find(({ name }) => name === part.field);
    return field ? changeField(form, field) : form;
  }
  switch (part) {
    case 'title': {
      const title = await askLine(editWords.titlePrompt(), form.title, titleProblem);
      return title === undefined ? form : { ...form, title };
    }
    case 'hosts': {
      const text = await askLine(editWords.hostsPrompt(), form.hosts.join(', '), (typed) => {
        const bad = badHost(typed);
        return bad === undefined ? undefined : editWords.hostProblem(bad);
      });
      return text === undefined ? form : { ...form, hosts: listOf(text) };
    }
    case 'tags': {
      const text = await askLine(editWords.tagsPrompt(), form.tags.join(', '), (typed) => {
        const bad = badTag(typed);
        return bad === undefined ? undefined : editWords.tagProblem(bad);
      });
      return text === undefined ? form : { ...form, tags: listOf(text) };
    }
    case 'expiry': {
      const now = form.expiresAt === null ? '' : day(form.expiresAt);
      const text = await askLine(editWords.expiryPrompt(), now, (typed) =>
        parseDay(typed) === undefined ? editWords.expiryProblem() : undefined,
      );
      return text === undefined ? form : { ...form, expiresAt: parseDay(text) ?? null };
    }
    case 'add':
      return addField(form);
  }
}

async function changeField(form: ItemForm, field: FormField): Promise<ItemForm> {
  const act = await askFieldAct(form.title, field);
  if (act === undefined) return form;
  if (act.kind === 'value') return withValue(form, field.name, act.value);
  if (typeof field.value === 'object') field.value.wipe();
  return { ...form, fields: form.fields.filter(({ name }) => name !== field.name) };
}

async function addField(form: ItemForm): Promise<ItemForm> {
  const kind = await window.showQuickPick(
    fieldKinds.map((each) => ({ label: fieldKindWord(each), kindOfField: each })),
    { title: editWords.fieldKind(), ignoreFocusOut: true },
  );
  if (!kind) return form;
  const name = await askLine(editWords.fieldName(), '', (text) => {
    const problem = fieldNameProblem(text, form);
    if (!problem) return undefined;
    return problem === 'name' ? editWords.fieldNameProblem() : editWords.fieldNameTaken();
  });
  if (name === undefined) return form;
  const field: FormField = { name, kind: kind.kindOfField, value: 'empty' };
  return changeField({ ...form, fields: [...form.fields, field] }, field);
}

/** What is wrong with a title, in words. */
export function titleProblem(text: string): string | undefined {
  const isFit = text.trim() === text && text !== '' && text.length <= 200 && plain(text) === text;
  return isFit ? undefined : editWords.titleProblem();
}

async function askLine(
  prompt: string,
  value: string,
  check: (text: string) => string | undefined,
): Promise<string | undefined> {
  const asked = await textStep({ title: prompt, step: 1, totalSteps: 1, prompt, value, check });
  return asked.kind === 'value' ? asked.value : undefined;
}

function partItems(form: ItemForm, before: ItemForm): PartItem[] {
  const changes = changesOf(form, before);
  const line = (part: Part, icon: string, label: string, description: string): PartItem => ({
    part,
    label,
    description,
    iconPath: new ThemeIcon(icon),
  });
  const separator = (label: string): PartItem => ({ label, kind: QuickPickItemKind.Separator });
  const joined = (list: readonly string[]): string =>
    list.length === 0 ? editWords.none() : list.map(plain).join(', ');
  return [
    line(
      'save',
      'save',
      editWords.save(),
      changes === 0 ? editWords.saveNothing() : editWords.saveNote(changes),
    ),
    separator(editWords.fields()),
    ...form.fields.map((field) =>
      line(
        { field: field.name },
        'lock-small',
        plain(field.name),
        `${fieldKindWord(field.kind)} · ${stateOf(field)}`,
      ),
    ),
    line('add', 'add', editWords.addField(), ''),
    separator(editWords.about()),
    line('title', 'edit', editWords.partTitle(), plain(form.title)),
    line('hosts', 'globe', editWords.partHosts(), joined(form.hosts)),
    line('tags', 'tag', editWords.partTags(), joined(form.tags)),
    line(
      'expiry',
      'calendar',
      editWords.partExpiry(),
      form.expiresAt === null ? editWords.none() : day(form.expiresAt),
    ),
  ];
}

function stateOf({ value }: FormField): string {
  if (value === 'kept') return editWords.kept();
  return value === 'empty' ? editWords.empty() : editWords.changed();
}

function day(epochMs: number): string {
  return timestamp(epochMs).slice(0, 10);
}

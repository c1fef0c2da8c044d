import { ThemeIcon, window } from 'vscode';
import { timestamp } from '../../figures.ts';
import { textStep } from '../../native/steps.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import { itemKinds, type ItemSummary } from '../core/items.ts';
import { toId } from '../core/importers/imported.ts';
import type { Secret } from '../core/secret.ts';
import type { Vault } from '../core/vaultContract.ts';
import { hasLines, typeValue } from './askValue.ts';
import type { VaultClipboard } from './clipboard.ts';
import { chooseField } from './chooseItem.ts';
import { editForm, titleProblem } from './editItem.ts';
import { askFieldAct } from './fieldActs.ts';
import { changesOf, draftOf, formOf, newForm, wipeForm, withValue, type ItemForm } from './itemForm.ts';
import { removedItem } from './removedItem.ts';
import { showValue } from './showValue.ts';
import { vaultNotices } from './vaultNotices.ts';
import { editWords, itemKindWord, revealWords } from './vaultWords.ts';

export interface VaultItemsOptions {
  readonly person: Presence;
  readonly notifier: Notifier;
  readonly clipboard: VaultClipboard;
}

/** What a person does with the items of an open vault. */
export class VaultItems {
  readonly #options: VaultItemsOptions;

  constructor(options: VaultItemsOptions) {
    this.#options = options;
  }

  async add(vault: Vault): Promise<void> {
    const kind = await window.showQuickPick(
      itemKinds.map((each) => ({
        label: itemKindWord(each),
        detail: editWords.kindDetail(each),
        value: each,
      })),
      { title: editWords.chooseKind(), matchOnDetail: true },
    );
    if (!kind) return;
    const title = await this.#askTitle();
    if (title === undefined) return;
    const id = toId(title, (each) => vault.get(each) !== undefined);
    const origin = kind.value === 'keyPair' ? await this.#askOrigin() : 'existing';
    if (!origin) return;
    if (origin === 'fresh') {
      await vault.generateKeyPair({ id, title, hosts: [], tags: [], expiresAt: null });
      this.#options.notifier.show(vaultNotices.keyPairMade(title));
      return;
    }
    let form = newForm(kind.value, title, id);
    for (const field of form.fields) {
      const act = hasLines(field.kind) ? await askFieldAct(title, field) : undefined;
      const value = hasLines(field.kind) ? act?.kind === 'value' && act.value : await typeValue(title, field);
      if (value) form = withValue(form, field.name, value);
    }
    await this.#saveEdited(vault, form);
  }

  async edit(vault: Vault, item: ItemSummary): Promise<void> {
    await this.#saveEdited(vault, formOf(item));
  }

  /** Removes it after a question, with the way back in the message. */
  async remove(vault: Vault, item: ItemSummary): Promise<void> {
    const grants = acceptedGrants(vault, item.id);
    const { text, detail, button } = editWords.removeQuestion(item.title, grants);
    if ((await window.showWarningMessage(text, { modal: true, detail }, button)) !== button) return;
    const kept = await removedItem(vault, item);
    try {
      await vault.remove(item.id);
      await kept.offerUndo();
    } finally {
      kept.wipe();
    }
  }

  /** One value, after presence, for twenty seconds. */
  async reveal(vault: Vault, item: ItemSummary, fieldName?: string, version = item.version): Promise<void> {
    const shown = vault.history(item.id).find((each) => each.version === version);
    const field = shown && (await chooseField(shown, fieldName));
    if (!shown || field === undefined) return;
    const value = await this.#unsealed(vault, shown, field);
    if (!value) return;
    try {
      await showValue(revealWords.title(field, shown.title), value, (text) =>
        this.#options.clipboard.put(text),
      );
    } finally {
      value.wipe();
    }
  }

  async copy(vault: Vault, item: ItemSummary, fieldName?: string): Promise<void> {
    const field = await chooseField(item, fieldName);
    const value = field === undefined ? undefined : await this.#unsealed(vault, item, field);
    if (!value) return;
    try {
      await this.#options.clipboard.put(value.use((bytes) => bytes.toString('utf8')));
      this.#options.notifier.show(vaultNotices.copied());
    } finally {
      value.wipe();
    }
  }

  async versions(vault: Vault, item: ItemSummary): Promise<void> {
    const chosen = await window.showQuickPick(
      vault.history(item.id).map((each) => ({
        label: `${each.version}`,
        description: timestamp(each.savedAt),
        detail: [plain(each.title), ...each.fields.map(({ name }) => name)].join(' · '),
        iconPath: new ThemeIcon(each.version === item.version ? 'check' : 'history'),
        version: each.version,
      })),
      { title: revealWords.versions(item.title) },
    );
    if (chosen) await this.reveal(vault, item, undefined, chosen.version);
  }

  /** The act names the version; what is opened is exactly what was confirmed. */
  async #unsealed(vault: Vault, item: ItemSummary, field: string): Promise<Secret | undefined> {
    const { person, notifier } = this.#options;
    const actOf = (title: string): PresenceAct => ({
      name: 'reveal',
      vault: vault.kind,
      itemId: item.id,
      title,
      field,
      version: item.version,
    });
    const proof = await person.prove(actOf(item.title));
    if (!proof) return undefined;
    const now = vault.history(item.id).find(({ version }) => version === item.version);
    if (!now || !person.spend(proof, actOf(now.title))) {
      notifier.show(vaultNotices.notRevealed());
      return undefined;
    }
    const value = await vault.open(item.id, field, item.version);
    try {
      await vault.note([{ grant: '', principal: 'person', item: item.id, field, host: '' }]);
      return value;
    } catch (error) {
      value.wipe();
      throw error;
    }
  }

  async #saveEdited(vault: Vault, before: ItemForm): Promise<void> {
    // What was typed before the form opens is a change already: a new item begins empty.
    const start = before.baseVersion === 0 ? { ...before, fields: [] } : before;
    const form = await editForm(before, start);
    if (!form) {
      wipeForm(before);
      return;
    }
    try {
      const grants = acceptedGrants(vault, form.id);
      const carryGrants = grants > 0 && changesOf(form, before) > 0 ? await askCarry(grants) : false;
      if (carryGrants === undefined) return;
      await vault.save(draftOf(form), { carryGrants });
      this.#options.notifier.show(vaultNotices.saved(form.title));
    } finally {
      wipeForm(form);
      wipeForm(before);
    }
  }

  /** A key pair is made here, or taken in. */
  async #askOrigin(): Promise<'fresh' | 'existing' | undefined> {
    const choices = [
      { label: editWords.generate(), iconPath: new ThemeIcon('sparkle'), origin: 'fresh' },
      { label: editWords.takeExisting(), iconPath: new ThemeIcon('file'), origin: 'existing' },
    ] as const;
    return (await window.showQuickPick(choices, { title: editWords.kindDetail('keyPair') }))?.origin;
  }

  async #askTitle(): Promise<string | undefined> {
    const asked = await textStep({
      title: editWords.partTitle(),
      step: 1,
      totalSteps: 1,
      prompt: editWords.titlePrompt(),
      check: titleProblem,
    });
    return asked.kind === 'value' ? asked.value : undefined;
  }
}

function acceptedGrants(vault: Vault, item: string): number {
  return vault.grants().filter((grant) => grant.item === item && grant.state === 'accepted').length;
}

async function askCarry(count: number): Promise<boolean | undefined> {
  const { text, detail, keep, end } = editWords.keepGrantsQuestion(count);
  const chosen = await window.showWarningMessage(text, { modal: true, detail }, end, keep);
  return chosen === undefined ? undefined : chosen === keep;
}

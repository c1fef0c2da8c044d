import { ConfigurationTarget, window, workspace } from 'vscode';
import { together, type Disposable } from '../disposable.ts';
import { Emitter } from '../emitter.ts';
import type { Log } from '../log.ts';
import type { Notifier } from '../notifier.ts';
import type { Settings } from '../settings.ts';
import type { FactorStore } from './factorStore.ts';
import type { Presence } from './presence.ts';
import type { PresenceAct } from './presenceAct.ts';
import { presenceNotices, settingQuestion } from './presenceMessages.ts';
import { effective, settingGuards, type GuardedName, type GuardedValue } from './settingGuards.ts';

/**
 * What a person confirmed of the settings that open something. A setting that was opened, by whatever wrote into the
 * settings file, counts only after presence; turned away, it is written back.
 */
export class SettingConfirmations implements Disposable {
  readonly #store: FactorStore;
  readonly #changed: Emitter<undefined>;
  #confirmed: Readonly<Record<string, GuardedValue>> = {};

  constructor(store: FactorStore, onError: (error: unknown) => void) {
    this.#store = store;
    this.#changed = new Emitter(onError);
  }

  /** What was confirmed counts now, or was read. */
  readonly onDidChange = (listener: () => void): Disposable => this.#changed.on(listener);

  of(name: GuardedName): GuardedValue | undefined {
    return this.#confirmed[name];
  }

  async read(): Promise<void> {
    this.#take((await this.#store.read()).settings);
  }

  async confirm(name: GuardedName, value: GuardedValue): Promise<void> {
    const { settings } = await this.#store.update((before) => ({
      ...before,
      settings: { ...before.settings, [name]: value },
    }));
    this.#take(settings);
  }

  dispose(): void {
    this.#changed.dispose();
  }

  #take(settings: Readonly<Record<string, GuardedValue>>): void {
    this.#confirmed = settings;
    this.#changed.fire(undefined);
  }
}

const names = Object.keys(settingGuards) as GuardedName[];

/** Watches the guarded settings from now on and asks where one was opened. */
export function watchSettings(parts: {
  readonly confirmations: SettingConfirmations;
  readonly presence: Presence;
  readonly settings: Settings;
  readonly notifier: Notifier;
  readonly log: Log;
}): Disposable {
  const { confirmations, presence, settings, notifier, log } = parts;
  const asking = new Set<GuardedName>();

  const check = async (name: GuardedName): Promise<void> => {
    const written = settings.written(name);
    const counts = effective(name, written, confirmations.of(name));
    if (counts === written) {
      // What was closed again has to be confirmed again when it is opened.
      if (confirmations.of(name) !== undefined && confirmations.of(name) !== written)
        await confirmations.confirm(name, written);
      return;
    }
    if (asking.has(name)) return;
    asking.add(name);
    try {
      await ask(name, counts, written);
    } finally {
      asking.delete(name);
    }
  };
  const ask = async (name: GuardedName, from: GuardedValue, to: GuardedValue): Promise<void> => {
    const setting = `sallyport.${name}`;
    const { text, button } = settingQuestion(setting, String(to));
    const act: PresenceAct = { name: 'changeSetting', setting, from: String(from), to: String(to) };
    const isWanted = (await window.showWarningMessage(text, button)) === button;
    const proof = isWanted ? await presence.prove(act) : undefined;
    const isProved = proof !== undefined && presence.spend(proof, act);
    if (isProved && settings.written(name) === to) {
      await confirmations.confirm(name, to);
      notifier.show(presenceNotices.settingChanged(setting, String(to)));
      return;
    }
    if (settings.written(name) === to) {
      const value = from === settingGuards[name].strictest ? undefined : from;
      await workspace.getConfiguration('sallyport').update(name, value, ConfigurationTarget.Global);
    }
    notifier.show(presenceNotices.settingKept(setting));
  };
  const checkAll = (which: readonly GuardedName[]): void => {
    for (const name of which) {
      check(name).catch((error: unknown) => log.error(`Failed to guard the setting ${name}`, error));
    }
  };
  confirmations
    .read()
    .catch((error: unknown) => log.error('Failed to read what was confirmed of the settings', error))
    .finally(() => checkAll(names));
  return together(
    workspace.onDidChangeConfiguration((event) =>
      checkAll(names.filter((name) => event.affectsConfiguration(`sallyport.${name}`))),
    ),
  );
}

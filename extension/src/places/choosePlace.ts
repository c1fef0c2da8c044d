import {
  QuickPickItemKind,
  Range,
  Selection,
  ThemeIcon,
  Uri,
  window,
  workspace,
  WorkspaceEdit,
  type QuickPickItem,
} from 'vscode';
import type { CardView } from '../../../protocol/src/engine.ts';
import { localPlace, parsePlace, type PlaceChoices, type PlaceKind } from '../../../protocol/src/places.ts';
import type { WorkerView } from '../../../protocol/src/pinnedWorker.ts';
import type { Engine } from '../engine.ts';
import { pickStep, textStep, type Step } from '../native/steps.ts';
import type { Notifier } from '../notifier.ts';
import { placeChoose as words, placeLabels, placeName, placeNotices } from '../placeViewMessages.ts';
import { placeOf } from './placeNodes.ts';
import type { KnownPlaces, PlacesList } from './placesList.ts';

export interface ChoosePlaceOptions {
  readonly engine: Engine;
  readonly list: PlacesList;
  readonly notifier: Notifier;
  readonly enrol: () => Promise<WorkerView | undefined>;
}

type Next = { readonly place: string } | { readonly next: 'host' | 'cluster' | 'enrol' };
interface Item extends QuickPickItem {
  readonly chosen?: Next;
}

/** "Choose Where a Card Runs": a list of places, then one line of the card's manifest, in an editor. */
export class ChoosePlace {
  readonly #options: ChoosePlaceOptions;

  constructor(options: ChoosePlaceOptions) {
    this.#options = options;
  }

  async run(card: CardView): Promise<void> {
    const { engine, list, notifier } = this.#options;
    if (card.runtime === 'js') {
      notifier.show(placeNotices.onlyHere(card.title));
      return;
    }
    list.forget();
    const [choices, known] = await Promise.all([engine.call('place/choices', {}), list.known()]);
    const place = await this.#ask(card, choices, known);
    if (place === undefined) return;
    if (place === placeOf(card)) {
      notifier.show(placeNotices.alreadyThere(card.title, place));
      return;
    }
    const isWritten = await this.#write(card, place);
    if (isWritten && place === 'vm' && !known.image) notifier.show(placeNotices.needsImage());
  }

  async #ask(card: CardView, choices: PlaceChoices, known: KnownPlaces): Promise<string | undefined> {
    const title = words.title(card.title);
    const items = placeItems(choices, known, placeOf(card));
    for (;;) {
      const first = await pickStep<Item>({
        title,
        step: 1,
        totalSteps: 1,
        placeholder: words.place(),
        items,
      });
      const chosen = first.kind === 'value' ? first.value.chosen : undefined;
      if (!chosen) return undefined;
      if ('place' in chosen) return chosen.place;
      if (chosen.next === 'enrol') {
        const worker = await this.#options.enrol();
        return worker && `worker:${worker.name}`;
      }
      const kind = chosen.next === 'cluster' ? 'slurm' : 'ssh';
      const host = await askHost(title, kind, choices.sshHosts);
      if (host.kind !== 'back') return host.kind === 'value' ? host.value : undefined;
    }
  }

  /** The change is made in the editor, so that it is seen and can be undone; it is saved where nothing else would be. */
  async #write(card: CardView, place: string): Promise<boolean> {
    const { engine, notifier } = this.#options;
    const document = await workspace.openTextDocument(Uri.file(card.manifestPath));
    const wasDirty = document.isDirty;
    const { version } = document;
    const { edits } = await engine.call('place/edit', { text: document.getText(), place });
    const editor = await window.showTextDocument(document, { preview: false });
    const change = new WorkspaceEdit();
    for (const { start, end, text } of edits)
      change.replace(document.uri, new Range(document.positionAt(start), document.positionAt(end)), text);
    if (document.version !== version || !(await workspace.applyEdit(change))) {
      notifier.show(placeNotices.notChanged(card.title));
      return false;
    }
    const [first] = edits;
    if (first) {
      const [from, to] = [first.start, first.start + first.text.length].map((at) => document.positionAt(at));
      if (from && to) editor.selection = new Selection(from, to);
      editor.revealRange(editor.selection);
    }
    if (wasDirty) notifier.show(placeNotices.notSaved(card.title));
    else await document.save();
    return true;
  }
}

/** Every place that can be chosen, in groups. */
function placeItems({ kinds, sshHosts }: PlaceChoices, known: KnownPlaces, now: string): Item[] {
  const item = (place: string, icon: string, detail: string): Item => ({
    label: placeName(place),
    description: place === now ? words.now() : '',
    ...(detail !== '' && { detail }),
    iconPath: new ThemeIcon(icon),
    chosen: { place },
  });
  const group = (kind: PlaceKind, items: readonly Item[]): Item[] =>
    kinds.includes(kind)
      ? [{ label: placeLabels.kind(kind), kind: QuickPickItemKind.Separator }, ...items]
      : [];
  const named = parsePlace(now);
  const hosts =
    named?.kind === 'ssh' && !sshHosts.includes(named.name) ? [named.name, ...sshHosts] : sshHosts;
  return [
    item(localPlace, 'device-desktop', words.hereDetail()),
    ...group('vm', [item('vm', 'layers', words.vmDetail(known.image !== null))]),
    ...group('ssh', [
      ...hosts.map((host) => item(`ssh:${host}`, 'remote', '')),
      { label: words.otherHost(), iconPath: new ThemeIcon('edit'), chosen: { next: 'host' } },
    ]),
    ...group('worker', [
      ...known.workers.map(({ name, host }) => item(`worker:${name}`, 'server', words.workerDetail(host))),
      { label: words.enrol(), iconPath: new ThemeIcon('add'), chosen: { next: 'enrol' } },
    ]),
    ...group('slurm', [
      ...(named?.kind === 'slurm' ? [item(now, 'server-environment', '')] : []),
      { label: words.cluster(), iconPath: new ThemeIcon('server-environment'), chosen: { next: 'cluster' } },
    ]),
  ];
}

/** A host of the configuration or a typed one, as a place. */
async function askHost(
  title: string,
  kind: 'ssh' | 'slurm',
  hosts: readonly string[],
): Promise<Step<string>> {
  const second = { title, step: 2, totalSteps: 2 };
  const toPlace = (host: string): string => `${kind}:${host.trim()}`;
  if (kind === 'slurm' && hosts.length > 0) {
    const items: (QuickPickItem & { host?: string })[] = [
      ...hosts.map((host) => ({ label: host, host, iconPath: new ThemeIcon('remote') })),
      { label: words.otherHost(), iconPath: new ThemeIcon('edit') },
    ];
    const asked = await pickStep({ ...second, placeholder: words.clusterHost(), items });
    if (asked.kind !== 'value') return asked;
    if (asked.value.host !== undefined) return { kind: 'value', value: toPlace(asked.value.host) };
  }
  const typed = await textStep({
    ...second,
    prompt: words.hostPrompt(),
    check: (text) => (parsePlace(toPlace(text)) ? undefined : words.hostProblem()),
  });
  return typed.kind === 'value' ? { kind: 'value', value: toPlace(typed.value) } : typed;
}

import { window } from 'vscode';
import type { PlaceView } from '../../../protocol/src/places.ts';
import { isUsable } from '../documents/placeReports.ts';
import type { Engine } from '../engine.ts';
import { askSure } from '../native/askSure.ts';
import type { Notifier } from '../notifier.ts';
import { placeChoose, placeNotices, placeQuestions } from '../placeViewMessages.ts';
import { short } from '../plainText.ts';
import type { PlacesList } from './placesList.ts';
import { withStop } from './withStop.ts';

/** What a person does with a place: look at it, see and end what it holds, close the connection. */
export class ManagePlaces {
  readonly #engine: Engine;
  readonly #list: PlacesList;
  readonly #notifier: Notifier;

  constructor(engine: Engine, list: PlacesList, notifier: Notifier) {
    this.#engine = engine;
    this.#list = list;
    this.#notifier = notifier;
  }

  /** Connects, probes, and says how things stand. */
  async check({ id }: PlaceView): Promise<void> {
    const view = await withStop(placeChoose.checking(id), (signal) =>
      this.#engine.call('place/check', { place: id }, signal),
    );
    this.#list.update(view);
    this.#notifier.show(isUsable(view) ? placeNotices.ready(view) : placeNotices.unusable(view));
  }

  async showHeld({ id }: PlaceView): Promise<void> {
    const held = await withStop(placeChoose.reading(id), (signal) =>
      this.#engine.call('place/held', { place: id }, signal),
    );
    if (held.length === 0) {
      this.#notifier.show(placeNotices.holdsNothing(id));
      return;
    }
    const items = held.map((job) => ({
      label: short(job.cardId),
      description: placeChoose.heldState(job.state),
      detail: placeChoose.heldDetail(job),
      job,
    }));
    const chosen = await window.showQuickPick(items, {
      title: placeChoose.heldTitle(id),
      placeHolder: placeChoose.held(),
      canPickMany: true,
      ignoreFocusOut: true,
    });
    if (!chosen || chosen.length === 0) return;
    if (!(await askSure(placeQuestions.release(id, chosen.length)))) return;
    const jobIds = chosen.map(({ job }) => job.jobId);
    const { released } = await withStop(placeChoose.releasing(id), (signal) =>
      this.#engine.call('place/release', { place: id, jobIds }, signal),
    );
    this.#notifier.show(placeNotices.released(id, released));
  }

  async disconnect(place: PlaceView): Promise<void> {
    await this.#engine.call('place/disconnect', { place: place.id });
    this.#list.forget();
    this.#notifier.show(placeNotices.disconnected(place));
  }
}

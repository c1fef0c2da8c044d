import { window } from 'vscode';
import { UserError } from '../../../protocol/src/errors.ts';
import type { PlaceView } from '../../../protocol/src/places.ts';
import type { Notifier } from '../notifier.ts';
import { placeChoose, placeName, placeNotices, placeStateWord } from '../placeViewMessages.ts';
import type { PlacesList } from './placesList.ts';

/** Finds the place that a command is about, and asks where several fit. */
export class PlacePicker {
  readonly #list: PlacesList;
  readonly #notifier: Notifier;

  constructor(list: PlacesList, notifier: Notifier) {
    this.#list = list;
    this.#notifier = notifier;
  }

  /** The place that is named, else the chosen one. Undefined where there is none, which was said. */
  async place(named: string | undefined): Promise<PlaceView | undefined> {
    const { places } = await this.#list.known();
    if (named !== undefined) {
      const found = places.find(({ id }) => id === named);
      if (!found) this.#notifier.show(placeNotices.noSuchPlace(named));
      return found;
    }
    if (places.length === 0) {
      this.#notifier.show(placeNotices.noOther());
      return undefined;
    }
    const items = places.map((place) => ({
      label: placeName(place.id),
      description: placeStateWord(place),
      place,
    }));
    const chosen = await window.showQuickPick(items, { placeHolder: placeChoose.anyPlace() });
    if (!chosen) throw new UserError('cancelled', 'No place was chosen');
    return chosen.place;
  }
}

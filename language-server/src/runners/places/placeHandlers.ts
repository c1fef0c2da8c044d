import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import {
  localPlace,
  parsePlace,
  type placeRequests,
  type PlaceView,
} from '../../../../protocol/src/places.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { errorMessage } from '../../../../protocol/src/errors.ts';
import { placeEdit } from '../../manifests/placeEdit.ts';
import type { PlaceRegistry } from './placeRegistry.ts';

type Handlers = RequestHandlers<typeof placeRequests>;

export interface PlaceHandlerOptions {
  readonly registry: () => PlaceRegistry;
  /** The places that cards of the open projects name, and those that may hold something. */
  readonly named: () => readonly string[];
  /** Hosts that the person's SSH configuration names. */
  readonly sshHosts: () => readonly string[];
}

/** Answers the person's side about places. Only `place/check`, `place/held` and `place/release` connect. */
export function createPlaceHandlers({ registry, named, sshHosts }: PlaceHandlerOptions): Handlers {
  const get = (id: string) => {
    if (id === localPlace) throw new UserError('not-found', 'This computer is no place to connect to');
    return registry().get(id);
  };
  return {
    'place/list': () => {
      const inUse = registry().inUse();
      const ids = new Set([...named(), ...inUse.map(({ id }) => id)]);
      ids.delete(localPlace);
      return [...ids].sort().flatMap((id) => {
        const found = inUse.find((each) => each.id === id);
        return found?.view() ?? unused(id) ?? [];
      });
    },
    'place/check': async ({ place }, signal) => {
      const runner = get(place);
      try {
        await runner.ready({ signal });
        await runner.probe();
      } catch (error) {
        const view = runner.view();
        // What went wrong is what is shown of the place.
        return view.detail === '' ? { ...view, state: 'refused', detail: errorMessage(error) } : view;
      }
      return runner.view();
    },
    'place/held': ({ place }) => get(place).held(),
    'place/release': async ({ place, jobIds }) => ({ released: await get(place).release(jobIds) }),
    'place/disconnect': ({ place }) => {
      get(place).disconnect();
      return {};
    },
    'place/choices': () => ({ kinds: [...registry().kinds], sshHosts: [...sshHosts()] }),
    'place/edit': ({ text, place }) => ({ edits: placeEdit(text, place) }),
  };
}

function unused(id: string): PlaceView | undefined {
  const name = parsePlace(id);
  return (
    name && {
      id,
      kind: name.kind,
      state: 'closed',
      detail: '',
      remedy: '',
      facts: null,
      running: 0,
      latencyMs: null,
    }
  );
}

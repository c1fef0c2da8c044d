import type { ProjectView } from '../../../protocol/src/engine.ts';
import type { PlaceView } from '../../../protocol/src/places.ts';
import type { Engine } from '../engine.ts';

/**
 * Looks at each place that counts: where a person accepted that a card runs there, and where this window is connected
 * already. One that nobody accepted is connected to by nothing but its own command. Rejects where it is stopped.
 */
export async function checkUsedPlaces(
  engine: Engine,
  projects: readonly ProjectView[],
  signal: AbortSignal,
): Promise<PlaceView[]> {
  const accepted = new Set(
    projects.flatMap(({ cards }) =>
      cards.flatMap(({ permissions }) =>
        permissions.flatMap(({ permission, accepted: isAccepted }) =>
          isAccepted && permission.name === 'execution' ? permission.service : [],
        ),
      ),
    ),
  );
  const places = await engine.call('place/list', {}, signal);
  const used = places.filter(({ id, state }) => state !== 'closed' || accepted.has(id));
  return Promise.all(used.map(({ id }) => engine.call('place/check', { place: id }, signal)));
}

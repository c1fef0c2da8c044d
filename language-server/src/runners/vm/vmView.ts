import type { PlaceView } from '../../../../protocol/src/places.ts';

/** The most telling first. */
const order = ['ready', 'connecting', 'lost', 'refused', 'closed'] as const;

/**
 * Several VMs as one place: all their jobs, and the state of the most telling. One that is lost with jobs in it comes
 * before all others, since somebody waits for those.
 */
export function summarizeVms(id: string, views: readonly PlaceView[]): PlaceView {
  const telling =
    views.find(({ state, running }) => state === 'lost' && running > 0) ??
    order.flatMap((state) => views.filter((view) => view.state === state))[0];
  if (!telling) {
    return {
      ...{ id, kind: 'vm', state: 'closed', detail: '', remedy: '' },
      ...{ facts: null, running: 0, latencyMs: null },
    };
  }
  return {
    ...telling,
    id,
    kind: 'vm',
    facts: telling.facts ?? views.find(({ facts }) => facts)?.facts ?? null,
    running: views.reduce((sum, view) => sum + view.running, 0),
  };
}

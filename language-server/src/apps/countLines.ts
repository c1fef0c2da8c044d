import type { ActCount } from '../gate/actCounts.ts';

/** Counts as lines of an app's log. */
export function countLines(counts: readonly ActCount[]): { at: number; source: string; text: string }[] {
  return counts.map(({ principal, tool, lastAt, done, failed, refused }) => {
    const plugin = /^plugin:[^/]+\/(.+)$/.exec(principal)?.[1];
    const parts = [
      `${times(done)} in ten minutes`,
      ...(failed > 0 ? [`${times(failed)} without success`] : []),
      ...(refused > 0 ? [`${times(refused)} refused`] : []),
    ];
    return {
      at: lastAt,
      source: plugin === undefined ? 'page' : 'plugin',
      text: `${plugin === undefined ? '' : `${plugin}: `}${tool}: ${parts.join(', ')}`,
    };
  });
}

function times(count: number): string {
  return count === 1 ? 'once' : `${count} times`;
}

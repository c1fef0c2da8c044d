import type { ActCount } from '../../language-server/src/gate/actCounts.ts';
import { FrequentActs } from '../../language-server/src/gate/frequentActs.ts';

/** The gate of frequent acts, whose counts are written at once into a list. */
export function createFrequentActs(): { readonly acts: FrequentActs; readonly written: ActCount[] } {
  const written: ActCount[] = [];
  const acts = new FrequentActs({
    counts: { add: (counts) => void written.push(...counts) },
    now: () => 7,
    setTimer: (run) => {
      queueMicrotask(run);
      return () => undefined;
    },
    onProblem: (error) => {
      throw error;
    },
  });
  return { acts, written };
}

/** One line of the bench: ours against a peer, measured in turns within one run. */
export interface BenchRow {
  readonly group: string;
  readonly name: string;
  /** Null where it could not be measured. */
  readonly ours: number | null;
  /** Null where there is no peer, or where it could not be installed: `name` says so then. */
  readonly peer: number | null;
  readonly unit: string;
  /** Ours by the peer's. */
  readonly ratio: number | null;
  /** What is to hold, in words: `≤ 3 × GNU make`. Empty for a line that only informs. */
  readonly goal: string;
  /** Null where the goal could not be tested. */
  readonly holds: boolean | null;
}

/** A line that compares: it holds where the ratio is at most `most`. */
export function ratioRow(
  row: Pick<BenchRow, 'group' | 'name' | 'unit' | 'goal'> & {
    readonly ours: number;
    readonly peer: number | null;
  },
  most: number | null,
): BenchRow {
  const ratio = row.peer === null ? null : row.ours / row.peer;
  return { ...row, ratio, holds: ratio === null || most === null ? null : ratio <= most };
}

/** A line without a peer: it holds where ours is at most `most`. */
export function limitRow(
  row: Pick<BenchRow, 'group' | 'name' | 'unit'> & { readonly ours: number },
  most: number,
): BenchRow {
  return { ...row, peer: null, ratio: null, goal: `≤ ${most} ${row.unit}`, holds: row.ours <= most };
}

/** A line for what could not be measured. */
export function missingRow(group: string, name: string, goal: string): BenchRow {
  return {
    group,
    name: `${name} (missing)`,
    ours: null,
    peer: null,
    unit: '',
    ratio: null,
    goal,
    holds: null,
  };
}

/** The middle value. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Milliseconds that each of these took, in turns, so that what else the machine does falls on all alike. */
export async function measureInTurns<Name extends string>(
  rounds: number,
  work: Readonly<Record<Name, () => unknown>>,
): Promise<Record<Name, number>> {
  const names = Object.keys(work) as Name[];
  const times = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const startedAt = performance.now();
      await work[name]();
      times.get(name)?.push(performance.now() - startedAt);
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(times.get(name) ?? [])])) as Record<
    Name,
    number
  >;
}

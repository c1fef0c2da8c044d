import type { FileOwner } from '../files/materialize.ts';

/** User ids that systemd and the distributions leave to nobody (systemd's "Users, Groups, UIDs and GIDs"). */
const unusedIds = { first: 1_879_048_192, count: 65_536 } as const;
/** A range that is smaller leaves no room beside the users that it was made for. */
const smallestRange = 65_536;

/**
 * The user that the n-th sandbox of a root runner is started as. A card must never be the root of the machine, even
 * without a capability: the kernel's switches under /proc/sys and files of root obey that user alone, and limits on
 * processes don't hold for it. Undefined where the runner is an ordinary user, also if a user namespace calls it root.
 * Throws for a root that has no other user to give. `uidMap` is the text of /proc/self/uid_map (user_namespaces(7)).
 */
export function sandboxOwner(uid: number, uidMap: string, turn: number): FileOwner | undefined {
  if (uid !== 0) return undefined;
  const ranges = uidMap
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, outside = 0, count = 0]) => ({ first, outside, count }));
  const isWhole = ranges.some((range) => range.first === 0 && range.count >= 2 ** 32 - 1);
  const id = isWhole ? unusedIds.first + (turn % unusedIds.count) : lastOf(ranges, turn);
  if (id !== undefined) return { uid: id, gid: id };
  if (ranges.some((range) => range.first === 0 && range.outside !== 0)) return undefined;
  throw new Error('the runner is root and has no other user to run cards as');
}

/** From the end of the largest range, below `nobody`, a fixed number of ids in turn. */
function lastOf(ranges: readonly { first: number; count: number }[], turn: number): number | undefined {
  const [largest] = [...ranges].sort((a, b) => b.count - a.count);
  if (!largest || largest.count < smallestRange) return undefined;
  return largest.first + largest.count - 1024 - (turn % 1024);
}

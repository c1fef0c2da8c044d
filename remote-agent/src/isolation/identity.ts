import type { FileOwner } from '../files/materialize.ts';

/** User ids that systemd and the distributions leave to nobody (systemd's "Users, Groups, UIDs and GIDs"). */
const unusedIds = { first: 1_879_048_192, count: 65_536 } as const;
/** A range that is smaller leaves no room beside the users that it was made for. */
const smallestRange = 65_536;

/**
 * The user that the n-th sandbox of a root runner is started as: root's own limits on processes are none, and files
 * of root could be read by owner. Undefined for an ordinary user and for the root of a user namespace without ids to
 * give away: both are no root on the machine. `uidMap` is the text of /proc/self/uid_map.
 */
export function sandboxOwner(uid: number, uidMap: string, turn: number): FileOwner | undefined {
  if (uid !== 0) return undefined;
  const ranges = uidMap
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
    .map(([first = 0, , count = 0]) => ({ first, count }));
  const offset = turn % unusedIds.count;
  const whole = ranges.find((range) => range.first === 0 && range.count >= 2 ** 32 - 1);
  const id = whole ? unusedIds.first + offset : lastOf(ranges, offset);
  return id === undefined ? undefined : { uid: id, gid: id };
}

/** From the end of the largest range, below `nobody`, a fixed number of ids in turn. */
function lastOf(ranges: readonly { first: number; count: number }[], offset: number): number | undefined {
  const largest = [...ranges].sort((a, b) => b.count - a.count)[0];
  if (!largest || largest.count < smallestRange) return undefined;
  return largest.first + largest.count - 1024 - (offset % 1024);
}

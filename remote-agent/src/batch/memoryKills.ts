import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/**
 * Counts the processes that the kernel has ended for want of memory in the control group of `membership`
 * (/proc/self/cgroup). With cgroup v2 (kernel Documentation/admin-guide/cgroup-v2.rst, `memory.events`) those below it
 * count too, and where it does not count itself, the nearest above it does. With v1 (cgroup-v1/memory.rst,
 * `memory.oom_control`) it counts for itself alone, and all of a card is in the group of its runner. Undefined where
 * nobody counts.
 */
export function memoryKills(mount: string, membership: string): () => number | undefined {
  const path = /^0::(\/.*)$/m.exec(membership)?.[1];
  const oldPath = /^[0-9]+:(?:[^:\n]*,)?memory(?:,[^:\n]*)?:(\/.*)$/m.exec(membership)?.[1];
  return () => {
    if (oldPath !== undefined) return countIn(join(mount, 'memory', oldPath, 'memory.oom_control'));
    if (path === undefined) return undefined;
    for (let group = join(mount, path); isWithin(mount, group); group = dirname(group)) {
      const count = countIn(join(group, 'memory.events'));
      if (count !== undefined) return count;
    }
    return undefined;
  };
}

function isWithin(mount: string, group: string): boolean {
  return group === mount || group.startsWith(`${mount}/`);
}

function countIn(file: string): number | undefined {
  try {
    const count = /^oom_kill ([0-9]+)$/m.exec(readFileSync(file, 'utf8'))?.[1];
    return count === undefined ? undefined : Number(count);
  } catch {
    return undefined;
  }
}

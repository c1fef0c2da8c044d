import { closeSync, readdirSync, readFileSync } from 'node:fs';

/** O_CLOEXEC in the octal flags of /proc/self/fdinfo (proc(5)); the same on every architecture that Node has. */
const closeOnExec = 0o2000000;

/**
 * Closes every descriptor beyond the three standard ones that would pass to a child. Node opens all of its own with
 * close-on-exec, so these are what whoever started this process left open: rights that no card may inherit.
 * Returns their numbers. Call before anything else; does nothing where there is no /proc.
 */
export function closeInheritedDescriptors(): number[] {
  return listed('/proc/self/fdinfo')
    .filter((descriptor) => descriptor > 2 && passesOn(descriptor))
    .filter((descriptor) => {
      try {
        closeSync(descriptor);
        return true;
      } catch {
        return false;
      }
    });
}

function passesOn(descriptor: number): boolean {
  try {
    const text = readFileSync(`/proc/self/fdinfo/${descriptor}`, 'utf8');
    const flags = /^flags:\s+([0-7]+)$/m.exec(text)?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & closeOnExec) === 0;
  } catch {
    return false;
  }
}

function listed(folder: string): number[] {
  try {
    return readdirSync(folder).map(Number);
  } catch {
    return [];
  }
}

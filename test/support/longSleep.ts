import { readdirSync, readFileSync } from 'node:fs';
import { until } from './until.ts';

let count = 0;

/** A command for the script of a card that runs on this computer, in whatever sandbox, and waits for the test. */
export interface LongSleep {
  /** Fails when it is woken, which the shell doesn't tell the card's log; what follows in a script goes on. */
  readonly command: string;
  /** Lets the card go on, once its command is there. */
  wake(): Promise<void>;
}

export function longSleep(): LongSleep {
  // A number of seconds that no other process sleeps.
  const seconds = `86400.${process.pid}${String(++count).padStart(4, '0')}`;
  return {
    command: `{ sleep ${seconds}; } 2>/dev/null`,
    wake: () =>
      until(() => {
        const found = sleepers(seconds);
        for (const pid of found) process.kill(pid, 'SIGKILL');
        return found.length > 0;
      }),
  };
}

function sleepers(seconds: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^[0-9]+$/.test(name))
    .map(Number)
    .filter((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8') === `sleep\0${seconds}\0`;
      } catch {
        return false;
      }
    });
}

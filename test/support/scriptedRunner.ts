import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** Starts `scriptedRunnerProgram.ts` as the engine starts its runner. */
export function spawnScriptedRunner(...args: string[]): ChildProcess {
  return spawn(process.execPath, [join(import.meta.dirname, 'scriptedRunnerProgram.ts'), ...args], {
    stdio: ['pipe', 'pipe', 'pipe'],
  });
}

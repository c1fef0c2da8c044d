import { cp, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/** What a question that waits for minutes waits while the clock hurries. */
const hurriedMs = 1500;

/**
 * A copy of the staged extension whose engine has a clock of its own: while the file `hurry` is there, timers of minutes
 * run out after 1.5 seconds. Nothing in what is shipped can do that.
 */
export async function withHurriedEngine(staged: string, folder: string, hurry: string): Promise<string> {
  await rm(folder, { recursive: true, force: true });
  await cp(staged, folder, { recursive: true });
  const engine = join(folder, 'dist', 'engine.mjs');
  await rename(engine, join(folder, 'dist', 'shippedEngine.mjs'));
  await writeFile(
    engine,
    `import { existsSync } from 'node:fs';
const setTimer = globalThis.setTimeout;
globalThis.setTimeout = (run, ms, ...rest) =>
  setTimer(run, ms >= 300000 && existsSync(${JSON.stringify(hurry)}) ? ${hurriedMs} : ms, ...rest);
await import('./shippedEngine.mjs');
`,
  );
  return folder;
}

/**
 * Waits until `holds` does, looking every few milliseconds, and fails after `limitMs`. The limit is for what never comes,
 * below mocha’s own so that it can name what was waited for: a busy machine may be late by much.
 */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 120_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain for ${holds.toString()}`);
    await new Promise((settle) => setTimeout(settle, 5));
  }
}

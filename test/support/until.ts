/** Waits until `holds` does, looking every few milliseconds, and fails after `limitMs`. */
export async function until(holds: () => boolean | Promise<boolean>, limitMs = 10_000): Promise<void> {
  const deadline = performance.now() + limitMs;
  while (!(await holds())) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms in vain for ${holds.toString()}`);
    await new Promise((settle) => setTimeout(settle, 5));
  }
}

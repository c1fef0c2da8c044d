import type { Page } from 'playwright-core';

/**
 * Resolves when an attack has told its shell `ran NAME`, or the shell has closed its frame for leaving: what a page says
 * right before it goes may go with it.
 */
export async function attackRan(page: Page, name: string): Promise<void> {
  await page.waitForFunction(
    ({ word, left }) => window.seen.includes(word) || document.body.innerText.includes(left),
    { word: `ran ${name}`, left: 'tried to leave its frame' },
  );
}

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FrameLocator } from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

interface AxeViolation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string }[];
}

/** What axe-core finds in a webview. Its frames are opaque and looked at by the views' own tests. */
export async function axe(frame: FrameLocator): Promise<string[]> {
  const handle = await frame.locator('body').elementHandle();
  const page = await handle.ownerFrame();
  assert.ok(page);
  await page.evaluate(axeSource);
  const violations = await page.evaluate(async () => {
    const { axe: run } = globalThis as unknown as {
      axe: { run: (root: Document, options: object) => Promise<{ violations: AxeViolation[] }> };
    };
    const result = await run.run(document, { iframes: false, resultTypes: ['violations'] });
    return result.violations;
  });
  return violations.map(
    (each) => `${each.id}: ${each.nodes.map((node) => node.html.slice(0, 160)).join(' | ')}`,
  );
}

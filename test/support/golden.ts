import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Compares text with a golden file. A missing one fails; `UPDATE_GOLDENS=1` writes it, to be read before it is kept. */
export function assertGolden(path: string, text: string): void {
  if (process.env['UPDATE_GOLDENS'] === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
    return;
  }
  assert.ok(existsSync(path), `There is no golden ${path}. Write it with UPDATE_GOLDENS=1 and read it.`);
  assert.equal(text, readFileSync(path, 'utf8'));
}

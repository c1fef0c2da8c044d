import { readFile } from 'node:fs/promises';
import * as z from 'zod/mini';
import type { AppTemplate } from './composeApp.ts';

const template = z.record(z.string(), z.string());

/** The template as `scripts/build.mjs` left it beside the extension. Rejects where the installation is damaged. */
export async function readTemplate(path: string): Promise<AppTemplate> {
  return template.parse(JSON.parse(await readFile(path, 'utf8')));
}

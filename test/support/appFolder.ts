import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Writes files below `folder`, making what is missing; returns the folder. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): string {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  return folder;
}

/** The files of a small sound app, `notes`, with what is to be other in its manifest and beside it. */
export function appFiles(
  manifest: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const own = {
    version: 1,
    id: 'notes',
    name: 'Notes',
    appVersion: '1.0.0',
    entry: 'index.html',
    permissions: { storageMB: 1 },
  };
  return {
    'app.json': JSON.stringify({ ...own, ...manifest }),
    'index.html': '<!doctype html><title>Notes</title><p>Notes</p>',
    ...more,
  };
}

/** Writes that app into `folder`, which it returns. */
export function writeApp(
  folder: string,
  manifest: Readonly<Record<string, unknown>> = {},
  more: Readonly<Record<string, string>> = {},
): string {
  return writeFiles(folder, appFiles(manifest, more));
}

/** The files of a plugin of an app. */
export function pluginFiles(
  id: string,
  permissions: Readonly<Record<string, unknown>> = {},
  code = 'export function echo(input) { return input; }',
): Record<string, string> {
  return {
    [`plugins/${id}/plugin.json`]: JSON.stringify({
      version: 1,
      id,
      entry: 'index.js',
      permissions,
      functions: { echo: { description: 'Gives back what it got', input: {}, output: {} } },
    }),
    [`plugins/${id}/index.js`]: code,
  };
}

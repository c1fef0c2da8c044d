import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { inlinePage } from '../../language-server/src/apps/page/inlinePage.ts';
import type { PassedCall } from './appShell.ts';

export const sampleAppsFolder = join(import.meta.dirname, '..', '..', 'test-fixtures', 'apps');

/** The document of a sample app, as the engine builds it. */
export function samplePage(app: string, folder = sampleAppsFolder): Promise<string> {
  const read = (path: string) => readFileSync(join(folder, app, path));
  return inlinePage('index.html', read('index.html').toString('utf8'), {
    read,
    bundle: () => Promise.reject(new Error('Sample apps have no modules')),
  });
}

type PluginFunction = (input: unknown, sallyport: { storage: unknown }) => unknown;

/** What an engine would answer to `notes`: files in memory, its own plugin, a model that says each word of a text. */
export async function notesEngine(files: Map<string, string>, modelText: string) {
  const url = pathToFileURL(join(sampleAppsFolder, 'notes', 'plugins', 'search', 'index.js')).href;
  const plugin = (await import(url)) as Record<string, PluginFunction>;
  const list = (prefix = '') =>
    [...files.keys()]
      .filter((path) => path.startsWith(prefix))
      .sort()
      .map((path) => ({
        path,
        bytes: files.get(path)?.length ?? 0,
        modifiedAt: Date.UTC(2026, 10, 30, 9, path.length),
      }));
  const storage = {
    get: async (path: string) => files.get(path),
    put: async (path: string, text: string) => void files.set(path, text),
    list: async (prefix: string) => list(prefix),
  };
  return async ({ method, params }: PassedCall, tell: (text: string) => void): Promise<unknown> => {
    const given = params as Record<string, string>;
    const path = given['path'] ?? '';
    switch (method) {
      case 'files.list':
        return { files: list(given['prefix']) };
      case 'files.get':
        return { content: files.get(path) ?? '', encoding: 'text', bytes: 1, modifiedAt: 1 };
      case 'files.put':
        files.set(path, given['content'] ?? '');
        return { path, bytes: 1, modifiedAt: Date.UTC(2026, 10, 30, 10) };
      case 'files.delete':
        return { found: files.delete(path) };
      case 'files.quota':
        return { usedBytes: [...files.values()].join('').length, limitBytes: 16 * 1024 * 1024 };
      case 'models.list':
        return { models: [{ id: 'm', name: 'Scripted model', kind: 'text' }] };
      case 'plugin.call': {
        const run = plugin[given['function'] ?? ''];
        return { output: await run?.(given['input'], { storage }) };
      }
      case 'generate.text':
        for (const word of modelText.split(/(?<= )/)) tell(word);
        return { text: modelText, model: 'Scripted model', stop: 'end' };
      case 'download.save':
        return { saved: true };
      default:
        throw new Error(`Nobody answers ${method}`);
    }
  };
}

const table = `month,mean,rain\n${[3.1, 4.4, 7.2, 9.8, 13.4, 16.1, 18.9, 18.7, 15.2, 10.3, 6.1, 3.2]
  .map((mean, month) => `2012-${String(month + 1).padStart(2, '0')},${mean},${(90 - mean * 3).toFixed(1)}`)
  .join('\n')}\n`;

/** What an engine would answer to `board`. */
export function boardEngine({ method }: PassedCall): unknown {
  if (method === 'results.read')
    return { content: table, encoding: 'text', type: 'table', bytes: table.length };
  const card = (id: string, title: string, state: string, outputs: object[] = []) => ({
    card: id,
    title,
    state,
    cached: id === 'load',
    tookMs: 1234,
    outputs,
  });
  return {
    projects: [
      {
        project: 'p1',
        name: 'seattle-weather',
        run: {
          run: 'r1',
          state: 'failed',
          startedAt: Date.UTC(2026, 10, 30, 9),
          endedAt: Date.UTC(2026, 10, 30, 9, 1),
        },
        cards: [
          card('load', 'Load', 'done', [{ port: 'weather', type: 'table', bytes: 48219 }]),
          card('monthly', 'Monthly means', 'done', [{ port: 'monthly', type: 'table', bytes: table.length }]),
          card('chart', 'Chart <b>bold</b>', 'failed'),
        ],
      },
    ],
  };
}

import type { AppTheme, FileEncoding } from '../../../protocol/src/bridge.ts';
import type { CallOptions, MadeFile, Sallyport, Theme } from '../../../protocol/src/sallyportApi.ts';
import type { BridgeCalls } from './bridgeCalls.ts';
import { bytesOfBase64 } from '../run/bytes.ts';
import { base64OfBytes } from './base64.ts';

export interface ThemeSource {
  current(): AppTheme | undefined;
  onChange(listener: (theme: Theme) => void): () => void;
}

/** The `sallyport` of an app's page. Frozen, so that one script of the app cannot change it under another. */
export function createSallyport(calls: BridgeCalls, theme: ThemeSource): Sallyport {
  const signalOf = (options: CallOptions | undefined) => ({ signal: options?.signal });
  const read = async (path: string, encoding: FileEncoding) =>
    (await calls.call('files.get', { path, encoding })).content;
  const readResult = async (project: string, card: string, port: string, encoding: FileEncoding) =>
    (await calls.call('results.read', { project, card, port, encoding })).content;
  return frozen<Sallyport>({
    version: 1,
    plugins: {
      call: async (plugin, name, input = {}, options) =>
        (await calls.call('plugin.call', { plugin, function: name, input }, signalOf(options))).output,
    },
    generate: {
      text: (request, options) =>
        calls.call('generate.text', request, {
          signal: options?.signal,
          onText: options?.onText && ((piece) => options.onText?.(piece)),
        }),
      image: async (request, options) =>
        toFile(await calls.call('generate.image', request, signalOf(options))),
      speech: async (request, options) =>
        toFile(await calls.call('generate.speech', request, signalOf(options))),
      embedding: async (texts, options) =>
        (
          await calls.call(
            'generate.embedding',
            { texts: [...texts], ...(options?.model === undefined ? {} : { model: options.model }) },
            signalOf(options),
          )
        ).vectors,
    },
    files: {
      get: (path) => read(path, 'text'),
      getBytes: async (path) => bytesOfBase64(await read(path, 'base64')),
      put: (path, content) => calls.call('files.put', { path, ...encoded(content) }),
      list: async (prefix) => (await calls.call('files.list', prefix === undefined ? {} : { prefix })).files,
      delete: async (path) => (await calls.call('files.delete', { path })).found,
      quota: () => calls.call('files.quota', {}),
    },
    models: {
      list: async (kind) => (await calls.call('models.list', kind === undefined ? {} : { kind })).models,
    },
    voices: { list: async () => (await calls.call('voices.list', {})).voices },
    results: {
      list: async () => (await calls.call('results.list', {})).projects,
      read: (project, card, port) => readResult(project, card, port, 'text'),
      readBytes: async (project, card, port) =>
        bytesOfBase64(await readResult(project, card, port, 'base64')),
    },
    links: { open: async (url) => (await calls.call('link.open', { url })).opened },
    downloads: {
      save: async (name, content) => (await calls.call('download.save', { name, ...encoded(content) })).saved,
    },
    theme: {
      get current() {
        const shown = theme.current();
        if (!shown) throw new Error('The page is not shown yet');
        return shown;
      },
      onChange: (listener) => theme.onChange(listener),
    },
  });
}

function encoded(content: string | Uint8Array): { content: string; encoding: FileEncoding } {
  return typeof content === 'string'
    ? { content, encoding: 'text' }
    : { content: base64OfBytes(content), encoding: 'base64' };
}

function toFile(made: { mime: string; base64: string; model: string }): MadeFile {
  return { mime: made.mime, bytes: bytesOfBase64(made.base64), model: made.model };
}

/** Freezes it with everything in it. Getters stay getters. */
function frozen<T extends object>(value: T): T {
  for (const part of Object.values(Object.getOwnPropertyDescriptors(value))) {
    const held: unknown = part.value;
    if (typeof held === 'object' && held !== null) Object.freeze(held);
  }
  return Object.freeze(value);
}

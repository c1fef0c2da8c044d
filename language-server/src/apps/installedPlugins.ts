import { createHash } from 'node:crypto';
import { BridgeError } from '../../../protocol/src/bridge.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import type { InstalledPlugin } from '../plugins/installedPlugin.ts';
import type { AppLibrary } from './appLibrary.ts';

/**
 * Looks up a plugin of an installed app as it was reviewed: its frozen code, and of what its manifest asks for that which
 * a person accepted. Undefined where there is none, or where nobody accepted it.
 */
export function createFindPlugin(
  library: Pick<AppLibrary, 'open'>,
): (app: string, plugin: string) => Promise<InstalledPlugin | undefined> {
  return async (app, plugin) => {
    const { app: record, tree, content, rights } = open(library, app);
    const manifest = content.plugins.get(plugin);
    const accepted = Object.hasOwn(rights.plugins, plugin) ? rights.plugins[plugin] : undefined;
    if (!manifest || !accepted) return undefined;
    const folder = `plugins/${plugin}/`;
    const modules = [...tree.files.values()].filter(
      ({ path }) => path.startsWith(folder) && /\.m?js$/.test(path),
    );
    const sum = createHash('sha256');
    for (const { path, digest } of modules) sum.update(`${path}\0${digest}\n`);
    return {
      digest: sum.digest('hex'),
      entry: manifest.entry,
      functions: manifest.functions,
      rights: accepted,
      installation: record.installation,
      readModules: async () =>
        Object.fromEntries(
          modules.map(({ path }) => [path.slice(folder.length), decode(tree.read(path), path)]),
        ),
    };
  };
}

function open(library: Pick<AppLibrary, 'open'>, app: string): ReturnType<AppLibrary['open']> {
  try {
    return library.open(app);
  } catch (error) {
    if (error instanceof UserError && error.code === 'not-found')
      throw new BridgeError('not-found', 'There is no such app.', { cause: error });
    throw error;
  }
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new BridgeError('plugin-failed', `${path} is not UTF-8 text.`);
  }
}

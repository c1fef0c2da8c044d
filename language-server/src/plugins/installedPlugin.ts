import type { FunctionSchema } from '../../../protocol/src/functionSchema.ts';
import type { PluginRights } from './rights.ts';

/** A plugin as it was reviewed and installed. */
export interface InstalledPlugin {
  /** Of exactly this code: another digest is another worker. */
  readonly digest: string;
  /** A key of the modules. */
  readonly entry: string;
  readonly functions: Readonly<Record<string, { input: FunctionSchema; output: FunctionSchema }>>;
  /** What a person accepted and the manifest asks for. */
  readonly rights: PluginRights;
  /** What grants of the vault are bound to. */
  readonly installation: string;
  /** Source text of its `.js` and `.mjs` files by path below its folder, as they were frozen. */
  readModules(): Promise<Readonly<Record<string, string>>>;
}

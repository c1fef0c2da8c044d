import { workspace } from 'vscode';
import * as z from 'zod/mini';

/** The settings of the manifest with their defaults. All have application scope: no workspace sets them. */
export const settingSchemas = {
  openOnRun: z.catch(z.enum(['canvas', 'run', 'nothing']), 'canvas'),
  saveBeforeRun: z.catch(z.boolean(), true),
} as const;

/** The settings as they are now; a value that is not one counts as the default. */
export interface Settings {
  readonly openOnRun: 'canvas' | 'run' | 'nothing';
  readonly saveBeforeRun: boolean;
}

export function createSettings(): Settings {
  const read = (name: string): unknown => workspace.getConfiguration('sallyport').get(name);
  return {
    get openOnRun() {
      return settingSchemas.openOnRun.parse(read('openOnRun'));
    },
    get saveBeforeRun() {
      return settingSchemas.saveBeforeRun.parse(read('saveBeforeRun'));
    },
  };
}

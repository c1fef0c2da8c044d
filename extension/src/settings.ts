import { workspace } from 'vscode';
import * as z from 'zod/mini';
import { modelFacts, type FactTable } from './connections/modelFacts.ts';

/** The settings of the manifest with their defaults. All have application scope: no workspace sets them. */
export const settingSchemas = {
  openOnRun: z.catch(z.enum(['canvas', 'run', 'nothing']), 'canvas'),
  saveBeforeRun: z.catch(z.boolean(), true),
  webSearch: z.catch(z.boolean(), false),
  shellInternet: z.catch(z.boolean(), false),
  modelFacts: z.catch(z.record(z.string(), modelFacts), {}),
} as const;

/** The settings as they are now; a value that is not one counts as the default. */
export interface Settings {
  readonly openOnRun: 'canvas' | 'run' | 'nothing';
  readonly saveBeforeRun: boolean;
  /** The provider's own web search, where it has one. */
  readonly webSearch: boolean;
  /** The agent's `shell` may reach the public internet. */
  readonly shellInternet: boolean;
  /** Limits and prices of models, beside the built-in ones. */
  readonly modelFacts: FactTable;
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
    get webSearch() {
      return settingSchemas.webSearch.parse(read('webSearch'));
    },
    get shellInternet() {
      return settingSchemas.shellInternet.parse(read('shellInternet'));
    },
    get modelFacts() {
      return settingSchemas.modelFacts.parse(read('modelFacts'));
    },
  };
}

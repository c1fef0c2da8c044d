import { workspace } from 'vscode';
import * as z from 'zod/mini';
import { modelFacts, type FactTable } from './connections/modelFacts.ts';
import { effective, type GuardedName, type GuardedValue } from './presence/settingGuards.ts';

/** The settings of the manifest with their defaults. All have application scope: no workspace sets them. */
export const settingSchemas = {
  openOnRun: z.catch(z.enum(['canvas', 'run', 'nothing']), 'canvas'),
  saveBeforeRun: z.catch(z.boolean(), true),
  webSearch: z.catch(z.boolean(), false),
  shellInternet: z.catch(z.boolean(), false),
  modelFacts: z.catch(z.record(z.string(), modelFacts), {}),
  'vault.lockAfterMinutes': z.catch(z.int().check(z.minimum(1), z.maximum(480)), 10),
  slurm: z.catch(z.record(z.string(), z.unknown()), {}),
  'apps.storeIndex': z.catch(z.string().check(z.maxLength(2000)), ''),
  'apps.packageRegistry': z.catch(z.string().check(z.maxLength(2000)), 'https://registry.npmjs.org/'),
  'apps.checkForUpdates': z.catch(z.enum(['manual', 'whenShown']), 'manual'),
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
  /** The address of the git repository that lists apps; empty where none was named. */
  readonly appStoreIndex: string;
  /** Where packages of apps come from. */
  readonly packageRegistry: string;
  /** When updates of apps are looked for: only on command, or also once when the Apps view is first shown. */
  readonly checkForAppUpdates: 'manual' | 'whenShown';
  /** By login node, where on its cluster cards are sent; each to be parsed (`slurmChoice`). */
  readonly slurm: Readonly<Record<string, unknown>>;
  /** Minutes without use after which the personal vault locks itself. */
  readonly lockAfterMinutes: number;
  /** What stands in the settings file, whether or not it counts yet. */
  written(name: GuardedName): GuardedValue;
}

/** `confirmedOf` tells what a person confirmed of a setting that opens something: more than that does not count. */
export function createSettings(confirmedOf: (name: GuardedName) => GuardedValue | undefined): Settings {
  const written = (name: GuardedName): GuardedValue => settingSchemas[name].parse(read(name));
  const guarded = <T extends GuardedValue>(name: GuardedName, value: T): T =>
    effective(name, value, confirmedOf(name));
  const read = (name: string): unknown => workspace.getConfiguration('sallyport').get(name);
  return {
    written,
    get openOnRun() {
      return settingSchemas.openOnRun.parse(read('openOnRun'));
    },
    get saveBeforeRun() {
      return settingSchemas.saveBeforeRun.parse(read('saveBeforeRun'));
    },
    get webSearch() {
      return guarded('webSearch', settingSchemas.webSearch.parse(read('webSearch')));
    },
    get shellInternet() {
      return guarded('shellInternet', settingSchemas.shellInternet.parse(read('shellInternet')));
    },
    get modelFacts() {
      return settingSchemas.modelFacts.parse(read('modelFacts'));
    },
    get slurm() {
      return settingSchemas.slurm.parse(read('slurm'));
    },
    get packageRegistry() {
      return settingSchemas['apps.packageRegistry'].parse(read('apps.packageRegistry'));
    },
    get appStoreIndex() {
      return settingSchemas['apps.storeIndex'].parse(read('apps.storeIndex')).trim();
    },
    get checkForAppUpdates() {
      return settingSchemas['apps.checkForUpdates'].parse(read('apps.checkForUpdates'));
    },
    get lockAfterMinutes() {
      const value = settingSchemas['vault.lockAfterMinutes'].parse(read('vault.lockAfterMinutes'));
      return guarded('vault.lockAfterMinutes', value);
    },
  };
}

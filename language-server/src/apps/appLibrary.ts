import { existsSync } from 'node:fs';
import type { AppView, PermissionLine } from '../../../protocol/src/apps.ts';
import { UserError } from '../../../protocol/src/errors.ts';
import { appLimits } from '../../../protocol/src/limits.ts';
import type { BlobStore } from '../../../remote-agent/src/files/blobStore.ts';
import type { AppStorage } from '../plugins/appStorage.ts';
import type { PluginStatus, PluginStops } from '../plugins/pluginRecords.ts';
import type { AppRecord, AppRecords } from './appRecords.ts';
import { permissionLines } from './createReview.ts';
import { allowed, nothing, type PermissionSet } from './permissionSet.ts';
import { storageLimitBytes } from './quota.ts';
import { readApp, type AppContent } from './readApp.ts';
import { FrozenTree } from './tree/frozenTree.ts';

/** An installed app, with what it may do now. */
export interface RunningApp {
  readonly app: AppRecord;
  readonly tree: FrozenTree;
  readonly content: AppContent;
  /** What a person accepted, of what the frozen manifest asks for. */
  readonly rights: PermissionSet;
}

export interface AppLibraryOptions {
  readonly records: AppRecords;
  readonly blobs: BlobStore;
  readonly storage: AppStorage;
  /** How often plugins had to be stopped; forgotten when a person switches one on. */
  readonly stops: Pick<PluginStops, 'clear'>;
  readonly now: () => number;
}

/** The installed apps: what they are, what they may, and how they are switched off, deleted and brought back. */
export class AppLibrary {
  readonly #options: AppLibraryOptions;
  /** Frozen trees never change, so what was read of one stays true. */
  readonly #read = new Map<string, { readonly tree: FrozenTree; readonly content: AppContent }>();

  constructor(options: AppLibraryOptions) {
    this.#options = options;
  }

  /** The record of an app that is there. Throws `not-found`. */
  get(id: string): AppRecord {
    const app = this.#options.records.find(id);
    if (!app || app.deletedAt !== null)
      throw new UserError('not-found', `There is no app ${id}.`, { app: id });
    return app;
  }

  /** Throws `not-found`, and `store-damaged` or `bad-app` where the frozen tree can't be read: then nothing of it runs. */
  open(id: string): RunningApp {
    const app = this.get(id);
    const { tree, content } = this.#readTree(app);
    return { app, tree, content, rights: this.#rightsOf(app, content) };
  }

  /** What a person accepted of the version that is there; nothing where no record says so. */
  accepted(app: AppRecord): PermissionSet {
    return this.#options.records.consent(app.id, app.source, app.code.digest) ?? nothing;
  }

  pluginState(app: string, plugin: string): PluginStatus {
    return this.#options.records.plugins(app).get(plugin) ?? usual;
  }

  view(app: AppRecord): AppView {
    const { records, storage } = this.#options;
    let content: AppContent | undefined;
    let problem: string | null = null;
    try {
      content = this.#readTree(app).content;
    } catch (error) {
      problem = error instanceof Error ? error.message : String(error);
    }
    const rights = content ? this.#rightsOf(app, content) : nothing;
    const states = records.plugins(app.id);
    const waiting = records.stages().find((stage) => stage.app === app.id && stage.isWaiting);
    return {
      id: app.id,
      name: app.name,
      appVersion: app.appVersion,
      source: app.source,
      commit: app.commit,
      isOfficial: app.isOfficial,
      installation: app.installation,
      permissions: permissionLines(rights.app, null),
      plugins: [...(content?.plugins.keys() ?? [])].map((id) => ({
        id,
        ...(states.get(id) ?? usual),
        permissions: linesOf(rights, id),
      })),
      codeBytes: app.code.sizeBytes + app.page.sizeBytes,
      dataBytes: existsSync(storage.fileOf(app.id)) ? storage.usage(app.id).usedBytes : 0,
      quotaBytes: storageLimitBytes(rights),
      lastError: problem ?? records.lastError(app.id),
      waiting: waiting ? { stageId: waiting.id, appVersion: this.#versionOf(waiting.code) } : null,
      deletedUntil: app.deletedAt === null ? null : app.deletedAt + deletedMs,
    };
  }

  setPlugin(id: string, plugin: string, state: 'on' | 'off' | 'removed'): void {
    const { content } = this.open(id);
    if (!content.plugins.has(plugin))
      throw new UserError('not-found', `The app ${id} has no plugin ${plugin}.`, { app: id, plugin });
    if (this.pluginState(id, plugin).state === 'removed' && state !== 'removed')
      throw new UserError(
        'conflict',
        `The plugin ${plugin} was removed. Install the app again to have it back.`,
        {
          plugin,
        },
      );
    const { records, stops, now } = this.#options;
    if (state === 'on') stops.clear(id, plugin);
    records.setPlugin(id, plugin, { state, reason: null, lastError: null });
    records.log(id, now(), 'plugin', `${plugin}: ${stateWords[state]}`);
  }

  #rightsOf(app: AppRecord, content: AppContent): PermissionSet {
    return allowed(this.accepted(app), content.asked);
  }

  #readTree({ code }: Pick<AppRecord, 'code'>): { tree: FrozenTree; content: AppContent } {
    const known = this.#read.get(code.digest);
    if (known) return known;
    const tree = new FrozenTree(this.#options.blobs, code);
    const read = { tree, content: readApp(tree) };
    if (this.#read.size >= mostRead) this.#read.clear();
    this.#read.set(code.digest, read);
    return read;
  }

  #versionOf(code: AppRecord['code']): string {
    try {
      return this.#readTree({ code }).content.manifest.appVersion;
    } catch {
      return '';
    }
  }
}

/** How long a deleted app can be brought back, in milliseconds. */
export const deletedMs = appLimits.deletedDays * 24 * 60 * 60 * 1000;

const mostRead = 64;
const usual: PluginStatus = { state: 'on', reason: null, lastError: null };
const stateWords = { on: 'switched on', off: 'switched off', removed: 'removed' } as const;

function linesOf(rights: PermissionSet, plugin: string): PermissionLine[] {
  return permissionLines(Object.hasOwn(rights.plugins, plugin) ? (rights.plugins[plugin] ?? []) : [], null);
}

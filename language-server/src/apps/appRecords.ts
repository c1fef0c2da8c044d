import { randomBytes } from 'node:crypto';
import type * as z from 'zod/mini';
import { appSource, type AppSource } from '../../../protocol/src/apps.ts';
import { artifactRef, type ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { appLimits } from '../../../protocol/src/limits.ts';
import { parseAs } from '../../../protocol/src/parseJson.ts';
import { number, numberOrNull, text, textOrNull, type Database, type Row } from '../store/database.ts';
import type { PluginState, PluginStatus } from '../plugins/pluginRecords.ts';
import { permissionSet, type PermissionSet } from './permissionSet.ts';
import { sourceKey } from './sources/source.ts';

/** An app that a person installed, or deleted and can still bring back. */
export interface AppRecord {
  readonly id: string;
  readonly name: string;
  readonly appVersion: string;
  readonly source: AppSource;
  readonly commit: string | null;
  readonly code: ArtifactRef;
  /** The self-contained document, a blob. */
  readonly page: { readonly digest: string; readonly sizeBytes: number };
  readonly isOfficial: boolean;
  /** Random; made when it is installed, and again when it is deleted or comes from another source. */
  readonly installation: string;
  readonly installedAt: number;
  readonly deletedAt: number | null;
}

/** Something that was taken in and waits for a person, or for its turn as an update. */
export interface StageRecord {
  readonly id: string;
  readonly app: string;
  readonly source: AppSource;
  readonly commit: string | null;
  readonly code: ArtifactRef;
  /** Stored data that a backup brings. */
  readonly data: ArtifactRef | null;
  /** An update that was found by looking at the source. */
  readonly isWaiting: boolean;
  readonly createdAt: number;
}

export interface LogLine {
  readonly at: number;
  readonly source: string;
  readonly text: string;
}

/** The tables of the apps. A row that can't be read counts as none. */
export class AppRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  transaction<T>(work: () => T): T {
    return this.#database.transaction(work);
  }

  list(): AppRecord[] {
    return this.#database.all('select * from apps order by id').flatMap((row) => toApp(row) ?? []);
  }

  find(id: string): AppRecord | undefined {
    const row = this.#database.get('select * from apps where id = ?', id);
    return row && toApp(row);
  }

  /** An app that is there and has the same source is the same installation. */
  put(app: Omit<AppRecord, 'installation'>): AppRecord {
    const before = this.find(app.id);
    const isSame = before?.deletedAt === null && JSON.stringify(before.source) === JSON.stringify(app.source);
    const installation = isSame ? before.installation : randomId();
    this.#database.run(
      `insert or replace into apps (id, name, app_version, source_json, commit_id, code_json, page_digest, page_bytes,
       is_official, installation, installed_at, deleted_at) values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
      app.id,
      app.name,
      app.appVersion,
      JSON.stringify(app.source),
      app.commit,
      JSON.stringify(app.code),
      app.page.digest,
      app.page.sizeBytes,
      Number(app.isOfficial),
      installation,
      app.installedAt,
      app.deletedAt,
    );
    return { ...app, installation };
  }

  setPage(id: string, page: AppRecord['page']): void {
    this.#database.run(
      'update apps set page_digest = ?, page_bytes = ? where id = ?',
      page.digest,
      page.sizeBytes,
      id,
    );
  }

  setDeleted(id: string, at: number | null): void {
    this.#database.run('update apps set deleted_at = ?, installation = ? where id = ?', at, randomId(), id);
  }

  /** Forgets everything of an app but its log. */
  forget(id: string): void {
    for (const table of ['app_consents', 'app_plugins', 'app_stages'])
      this.#database.run(`delete from ${table} where app = ?`, id);
    this.#database.run('delete from apps where id = ?', id);
  }

  /** What a person accepted of exactly this tree from exactly this source. Null where they did not. */
  consent(app: string, source: AppSource, treeDigest: string): PermissionSet | null {
    const row = this.#database.get(
      'select accepted_json from app_consents where app = ? and source = ? and tree = ?',
      app,
      sourceKey(source),
      treeDigest,
    );
    return row ? parse(permissionSet, row, 'accepted_json') : null;
  }

  /** Replaces what was accepted of an app: older versions can't be gone back to without being asked. */
  accept(app: string, source: AppSource, treeDigest: string, accepted: PermissionSet, at: number): void {
    this.#database.run('delete from app_consents where app = ?', app);
    this.#database.run(
      'insert into app_consents (app, source, tree, accepted_json, accepted_at) values (?, ?, ?, ?, ?)',
      app,
      sourceKey(source),
      treeDigest,
      JSON.stringify(accepted),
      at,
    );
  }

  plugins(app: string): Map<string, PluginStatus> {
    const rows = this.#database.all('select * from app_plugins where app = ?', app);
    return new Map(
      rows.map((row) => [
        text(row, 'plugin'),
        {
          state: stateOf(text(row, 'state')),
          reason: textOrNull(row, 'reason'),
          lastError: textOrNull(row, 'last_error'),
        },
      ]),
    );
  }

  setPlugin(app: string, plugin: string, value: PluginStatus): void {
    this.#database.run(
      'insert or replace into app_plugins (app, plugin, state, reason, last_error) values (?, ?, ?, ?, ?)',
      app,
      plugin,
      value.state,
      value.reason,
      value.lastError,
    );
  }

  forgetPlugin(app: string, plugin: string): void {
    this.#database.run('delete from app_plugins where app = ? and plugin = ?', app, plugin);
  }

  stages(): StageRecord[] {
    return this.#database
      .all('select * from app_stages order by created_at')
      .flatMap((row) => toStage(row) ?? []);
  }

  stage(id: string): StageRecord | undefined {
    const row = this.#database.get('select * from app_stages where id = ?', id);
    return row && toStage(row);
  }

  putStage(stage: StageRecord): void {
    this.#database.run(
      `insert into app_stages (id, app, source_json, commit_id, code_json, data_json, is_waiting, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?)`,
      stage.id,
      stage.app,
      JSON.stringify(stage.source),
      stage.commit,
      JSON.stringify(stage.code),
      stage.data && JSON.stringify(stage.data),
      Number(stage.isWaiting),
      stage.createdAt,
    );
  }

  /** True where there was one. */
  removeStage(id: string): boolean {
    return this.#database.run('delete from app_stages where id = ?', id).changes > 0;
  }

  /** Data that is to take the place of an app's own as soon as the transaction is through. */
  putRestore(app: string, file: string): void {
    this.#database.run('insert or replace into app_restores (app, file) values (?, ?)', app, file);
  }

  restores(): { readonly app: string; readonly file: string }[] {
    return this.#database
      .all('select app, file from app_restores')
      .map((row) => ({ app: text(row, 'app'), file: text(row, 'file') }));
  }

  removeRestore(app: string): void {
    this.#database.run('delete from app_restores where app = ?', app);
  }

  /** Whether a person confirmed this list of apps. */
  isIndexConfirmed(url: string): boolean {
    return this.#database.get('select url from app_indexes where url = ?', url) !== undefined;
  }

  confirmIndex(url: string, digest: string, at: number): void {
    this.#database.run(
      'insert or replace into app_indexes (url, digest, confirmed_at) values (?, ?, ?)',
      url,
      digest,
      at,
    );
  }

  log(app: string, at: number, source: string, line: string): void {
    this.#database.run(
      'insert into app_log (app, at, source, text) values (?, ?, ?, ?)',
      app,
      at,
      source,
      line.slice(0, longestLine),
    );
    this.#database.run(
      `delete from app_log where app = ? and seq <= (select seq from app_log where app = ? order by seq desc limit 1 offset ${appLimits.logLines})`,
      app,
      app,
    );
  }

  /** Newest last. */
  logOf(app: string): LogLine[] {
    return this.#database
      .all('select at, source, text from app_log where app = ? order by seq', app)
      .map((row) => ({ at: number(row, 'at'), source: text(row, 'source'), text: text(row, 'text') }));
  }

  lastError(app: string): string | null {
    const row = this.#database.get(
      "select text from app_log where app = ? and source = 'error' order by seq desc limit 1",
      app,
    );
    return row ? text(row, 'text') : null;
  }
}

const longestLine = 4000;

function randomId(): string {
  return randomBytes(12).toString('hex');
}

function toApp(row: Row): AppRecord | undefined {
  const source = parse(appSource, row, 'source_json');
  const code = parse(artifactRef, row, 'code_json');
  if (!source || !code) return undefined;
  return {
    id: text(row, 'id'),
    name: text(row, 'name'),
    appVersion: text(row, 'app_version'),
    source,
    commit: textOrNull(row, 'commit_id'),
    code,
    page: { digest: text(row, 'page_digest'), sizeBytes: number(row, 'page_bytes') },
    isOfficial: number(row, 'is_official') === 1,
    installation: text(row, 'installation'),
    installedAt: number(row, 'installed_at'),
    deletedAt: numberOrNull(row, 'deleted_at'),
  };
}

function toStage(row: Row): StageRecord | undefined {
  const source = parse(appSource, row, 'source_json');
  const code = parse(artifactRef, row, 'code_json');
  const data = textOrNull(row, 'data_json') === null ? null : parse(artifactRef, row, 'data_json');
  if (!source || !code) return undefined;
  return {
    id: text(row, 'id'),
    app: text(row, 'app'),
    source,
    commit: textOrNull(row, 'commit_id'),
    code,
    data,
    isWaiting: number(row, 'is_waiting') === 1,
    createdAt: number(row, 'created_at'),
  };
}

function stateOf(value: string): PluginState {
  return value === 'on' || value === 'off' || value === 'removed' ? value : 'switched-off';
}

function parse<S extends z.ZodMiniType>(schema: S, row: Row, column: string): z.infer<S> | null {
  return parseAs(schema, text(row, column)) ?? null;
}

import { number, type Database } from '../store/database.ts';

/** A step of `store/schema.ts`: when a plugin had to be stopped, so that a restart forgets none of it. */
export const pluginTables = `
  create table plugin_stops (
    seq integer primary key autoincrement,
    app text not null,
    plugin text not null,
    at integer not null
  );
  create index plugin_stops_by_plugin on plugin_stops (app, plugin, at);
`;

/** The stops of each plugin. */
export interface PluginStops {
  /** Adds one and returns how many there were since `since` (milliseconds since the epoch), this one included. */
  add(app: string, plugin: string, at: number, since: number): number;
  /** Forgets those of a plugin, or of all plugins of an app. */
  clear(app: string, plugin?: string): void;
}

/** Over the table of `pluginTables`. */
export function createPluginStops(database: Database): PluginStops {
  return {
    add: (app, plugin, at, since) =>
      database.transaction(() => {
        // What lies before is counted by nobody any more; a clock that was turned back must not lift what it counted.
        database.run('delete from plugin_stops where app = ? and plugin = ? and at < ?', app, plugin, since);
        database.run('insert into plugin_stops (app, plugin, at) values (?, ?, ?)', app, plugin, at);
        const row = database.get(
          'select count(*) as stops from plugin_stops where app = ? and plugin = ?',
          app,
          plugin,
        );
        return number(row ?? {}, 'stops');
      }),
    clear: (app, plugin) =>
      void database.run(
        'delete from plugin_stops where app = ? and (? is null or plugin = ?)',
        app,
        plugin ?? null,
        plugin ?? null,
      ),
  };
}

export type PluginState = 'on' | 'off' | 'switched-off' | 'removed';

/** What is kept of a plugin's state, beside what it is. */
export interface PluginStatus {
  /** `off` by a person, `switched-off` because it was stopped too often, `removed` by a person. */
  readonly state: PluginState;
  /** Why it is not on, in words. */
  readonly reason: string | null;
  readonly lastError: string | null;
}

/** Where the states are kept: outside the workspace, for each app and plugin. One that is not known is on. */
export interface PluginStates {
  read(app: string, plugin: string): PluginStatus;
  write(app: string, plugin: string, status: PluginStatus): void;
}

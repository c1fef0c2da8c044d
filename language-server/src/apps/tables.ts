/**
 * Tables of the apps; a step of `store/schema.ts`. An app's code is a frozen tree in the blob folder of the apps, so
 * installing, updating and deleting are one transaction each. What a person accepted is kept by app, source and digest
 * of the tree: rights that no row answers for are none.
 */
export const appTables = `
  create table apps (
    id text primary key,
    name text not null,
    app_version text not null,
    source_json text not null,
    commit_id text,
    code_json text not null,
    page_digest text not null,
    page_bytes integer not null,
    is_official integer not null,
    installed_at integer not null,
    deleted_at integer
  ) without rowid;
  create table app_consents (
    app text not null,
    source text not null,
    tree text not null,
    accepted_json text not null,
    accepted_at integer not null,
    primary key (app, source, tree)
  ) without rowid;
  create table app_plugins (
    app text not null,
    plugin text not null,
    state text not null,
    reason text,
    last_error text,
    primary key (app, plugin)
  ) without rowid;
  create table app_stages (
    id text primary key,
    app text not null,
    source_json text not null,
    commit_id text,
    code_json text not null,
    data_json text,
    is_waiting integer not null,
    created_at integer not null
  ) without rowid;
  create table app_log (
    seq integer primary key autoincrement,
    app text not null,
    at integer not null,
    source text not null,
    text text not null
  );
  create index app_log_by_app on app_log (app, seq);
  create table app_restores (app text primary key, file text not null) without rowid;
  create table app_indexes (
    url text primary key,
    digest text not null,
    confirmed_at integer not null
  ) without rowid;
`;

/** By what grants of the vault know an installed app; a step of `store/schema.ts`. */
export const appInstallations = `
  alter table apps add column installation text not null default '';
  update apps set installation = lower(hex(randomblob(12)));
`;

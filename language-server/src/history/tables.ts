/** Tables of the history; a step of `store/schema.ts`. An entry whose `after_json` is null is not known to have ended. */
export const historyTables = `
  create table history_entries (
    seq integer primary key autoincrement,
    id text not null unique,
    engine text not null,
    root text not null,
    group_id text not null,
    group_title text not null,
    principal text not null,
    conversation text,
    base text not null,
    path text not null,
    kind text not null,
    before_json text not null,
    after_json text,
    before_digest text,
    after_digest text,
    size_bytes integer not null,
    origin text,
    undone integer not null default 0,
    pruned integer not null default 0,
    at integer not null
  );
  create index history_by_root on history_entries (root, seq);
  create index history_by_group on history_entries (group_id, seq);
  create index history_by_conversation on history_entries (conversation, seq);
  create index history_open on history_entries (engine) where after_json is null;
  create index history_by_before on history_entries (before_digest) where before_digest is not null;
  create index history_by_after on history_entries (after_digest) where after_digest is not null;

  create table history_reverts (
    entry integer not null references history_entries (seq) on delete cascade,
    reverted integer not null references history_entries (seq) on delete cascade,
    primary key (entry, reverted)
  ) without rowid;
  create index history_reverted on history_reverts (reverted);

  create table history_folders (
    id text primary key,
    engine text not null,
    context_json text not null,
    base text not null,
    listing text not null,
    at integer not null
  ) without rowid;
`;

/**
 * Tables of the conversations; a step of `store/schema.ts`. `items.row_json` is what a person sees (`item` of
 * protocol/src/agent.ts), `items.wire_json` is what of it the model is told again. `text` is searched.
 */
export const conversationTables = `
  create table conversations (
    num integer primary key autoincrement,
    id text not null unique,
    scope text not null,
    root text not null,
    title text not null,
    is_titled integer not null,
    mode text not null,
    connection text,
    model text,
    state text not null,
    engine text,
    last_seq integer not null default 0,
    last_turn integer not null default 0,
    items integer not null default 0,
    input_tokens integer not null default 0,
    output_tokens integer not null default 0,
    cached_tokens integer not null default 0,
    cost real,
    context_tokens integer not null default 0,
    touched integer not null,
    created_at integer not null,
    updated_at integer not null
  );
  create index conversations_by_scope on conversations (scope, touched);
  create index conversations_by_state on conversations (state);

  create table items (
    conversation integer not null references conversations (num) on delete cascade,
    seq integer not null,
    turn integer not null,
    step integer not null,
    kind text not null,
    row_json text not null,
    wire_json text not null,
    text text not null,
    primary key (conversation, seq)
  ) without rowid;

  create table item_images (
    conversation integer not null,
    seq integer not null,
    idx integer not null,
    media_type text not null,
    data blob not null,
    primary key (conversation, seq, idx),
    foreign key (conversation, seq) references items (conversation, seq) on delete cascade
  ) without rowid;

  create table sent_requests (
    seq integer primary key autoincrement,
    conversation integer not null references conversations (num) on delete cascade,
    at integer not null,
    connection text not null,
    path text not null,
    body text not null,
    status integer,
    received_bytes integer not null default 0
  );
  create index sent_requests_by_conversation on sent_requests (conversation, seq);
`;

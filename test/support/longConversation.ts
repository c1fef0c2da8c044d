import { DatabaseSync } from 'node:sqlite';
import type { Item } from '../../protocol/src/agent.ts';
import type { Wire } from '../../language-server/src/agent/conversations/wire.ts';

/** Writes a conversation of this many rows beside the others of a database: a copy of the first one's head. */
export function addLongConversation(path: string, title: string, rows: number): void {
  const database = new DatabaseSync(path);
  try {
    database.exec('pragma busy_timeout = 10000; begin immediate');
    database
      .prepare(
        `insert into conversations (id, scope, root, title, is_titled, mode, connection, model, state, last_seq,
           last_turn, items, touched, created_at, updated_at)
         select 'long', scope, root, ?, 1, mode, connection, model, 'idle', ?, ?, ?, 0, created_at, updated_at
         from conversations order by num limit 1`,
      )
      .run(title, rows, rows / 2, rows);
    const { num } = database.prepare(`select num from conversations where id = 'long'`).get() as {
      num: number;
    };
    const add = database.prepare('insert into items values (?, ?, ?, ?, ?, ?, ?, ?)');
    for (let seq = 1; seq <= rows; seq++) {
      const [row, wire] = rowOf(seq);
      const text = row.kind === 'person' ? row.text : '';
      add.run(num, seq, row.turn, seq, row.kind, JSON.stringify(row), JSON.stringify(wire), text);
    }
    database.exec('commit');
  } finally {
    database.close();
  }
}

function rowOf(seq: number): [Item, Wire] {
  const about = { seq, turn: Math.ceil(seq / 2), at: 1_780_000_000_000 + seq };
  if (seq % 2 === 1) {
    return [
      { ...about, kind: 'person', text: `Question ${seq}`, mentions: [], images: 0, isQueued: false },
      { kind: 'person', expanded: '', after: seq - 1 },
    ];
  }
  const markdown = `Answer ${seq}\n\n- one\n- two\n\n\`\`\`js\nconst answer = ${seq};\n\`\`\``;
  return [
    { ...about, kind: 'answer', markdown, ending: 'complete' },
    { kind: 'answer', connection: 'none', model: 'none', reasoning: [] },
  ];
}

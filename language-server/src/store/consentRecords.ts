import { parseAs } from '../../../protocol/src/parseJson.ts';
import { permission, permissionKey, type Permission } from '../../../protocol/src/permissions.ts';
import { text, type Database, type Row } from './database.ts';

/** What a person accepted, by project scope and card. Only `permissions/` writes here. */
export class ConsentRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** The accepted permissions of each card. A row that can't be read, or whose key is not its own, counts as none. */
  ofScope(scope: string): Map<string, Permission[]> {
    const cards = new Map<string, Permission[]>();
    for (const row of this.#database.all(
      'select card, key, permission_json from consents where scope = ?',
      scope,
    )) {
      const card = text(row, 'card');
      cards.set(card, [...(cards.get(card) ?? []), ...read(row)]);
    }
    return cards;
  }

  /** The same of one card, whatever the number of cards. */
  ofCard(scope: string, card: string): Permission[] {
    const sql = 'select key, permission_json from consents where scope = ? and card = ?';
    return this.#database.all(sql, scope, card).flatMap(read);
  }

  accept(scope: string, card: string, value: Permission, at: number): void {
    this.#database.run(
      `insert into consents (scope, card, key, permission_json, accepted_at) values (?, ?, ?, ?, ?)
       on conflict do nothing`,
      scope,
      card,
      permissionKey(value),
      JSON.stringify(value),
      at,
    );
  }

  /** True where there was something to take back. */
  revoke(scope: string, card: string, key: string): boolean {
    return (
      this.#database.run('delete from consents where scope = ? and card = ? and key = ?', scope, card, key)
        .changes > 0
    );
  }
}

function read(row: Row): Permission[] {
  const parsed = parseAs(permission, text(row, 'permission_json'));
  return parsed && permissionKey(parsed) === text(row, 'key') ? [parsed] : [];
}

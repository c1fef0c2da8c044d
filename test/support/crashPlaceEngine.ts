import { join } from 'node:path';
import { openPlaceEngine } from './placeEngine.ts';

/**
 * An engine in a process of its own that runs the project of `argv[2]` over SSH and kills itself with SIGKILL before the
 * `argv[4]`-th database statement that begins with `argv[3]`. `argv[5]` is the runner's file.
 */
const [, , folder = '', kind = '', countText = '1', program = ''] = process.argv;
let left = Number(countText);
const engine = openPlaceEngine(
  join(folder, 'home'),
  join(folder, 'project'),
  join(folder, 'ssh_config'),
  {},
  program,
);
await engine.acceptAll();
const { Database } = await import('../../language-server/src/store/database.ts');
for (const method of ['run', 'exec'] as const) {
  const original = Object.getOwnPropertyDescriptor(Database.prototype, method)?.value as (
    this: unknown,
    ...all: unknown[]
  ) => unknown;
  Object.defineProperty(Database.prototype, method, {
    value(this: unknown, sql: string, ...values: unknown[]): unknown {
      if (kind !== '' && sql.trimStart().startsWith(kind) && --left === 0)
        process.kill(process.pid, 'SIGKILL');
      return original.call(this, sql, ...values);
    },
  });
}
const view = await engine.run();
process.stdout.write(JSON.stringify(view.cards.map(({ id, status }) => [id, status.state])));
await engine.dispose();

import { Database } from '../../language-server/src/store/database.ts';

/**
 * Kills this process with SIGKILL before the `count`-th call of one of `methods` of any database whose statement begins
 * with `kind`; never for an empty `kind`.
 */
export function killAtStep(methods: readonly ('run' | 'exec' | 'get')[], kind: string, count: number): void {
  let left = count;
  for (const method of methods) {
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
}

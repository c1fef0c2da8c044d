import { openApps } from './appsHarness.ts';

/**
 * Installs a backup over an app and is killed at the change of this number (`node crashInstall.ts FOLDER BACKUP NUMBER`).
 * Prints `done` where there were fewer changes.
 */
const [folder = '', backup = '', number = ''] = process.argv.slice(2);
let left = Number(number);

const counted = new Set([
  ...['transaction', 'put', 'accept', 'removeStage', 'putStage', 'log', 'putRestore', 'removeRestore'],
  ...['putBytes', 'remove', 'clear', 'release'],
]);
const watch = <T extends object>(target: T): T =>
  new Proxy(target, {
    get: (of, name) => {
      const value: unknown = Reflect.get(of, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        step(name);
        return Reflect.apply(value, of, args) as unknown;
      };
    },
  });
function step(name: string | symbol): void {
  if (typeof name === 'string' && counted.has(name) && --left === 0) process.kill(process.pid, 'SIGKILL');
}

const harness = openApps(folder, {}, watch);
await harness.add({ kind: 'backup', path: backup });
await harness.close();
process.stdout.write('done');

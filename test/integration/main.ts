import Mocha from 'mocha';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { countInto } from '../support/countInto.ts';
import { defineHostTests } from './hostTests.ts';

/**
 * Runs everything in real VS Code. With arguments only what they name (`host`, `tiny`, …). The last line is
 * `N passed, N failed`; evidence of failures is under test/artifacts/.
 */
const files = ['tiny', 'sample', 'agent', 'workbench', 'apps', 'vault', 'places', 'restricted', 'vsix'];
const chosen = process.argv.slice(2).filter((each) => !each.startsWith('--'));
const bail = process.argv.includes('--bail');
const wanted = (name: string) => chosen.length === 0 || chosen.includes(name);

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1));
if (chosen.length === 0)
  rmSync(join(import.meta.dirname, '../artifacts/vscode'), { recursive: true, force: true });
const mocha = new Mocha({ ui: 'bdd', timeout: 150_000, reporter: 'spec', slow: 20_000, bail });
mocha.suite.emit('pre-require', globalThis, '', mocha);
if (wanted('host')) await defineHostTests();
for (const name of files.filter(wanted)) mocha.addFile(join(import.meta.dirname, `${name}.test.ts`));
await mocha.loadFilesAsync();
const { stats } = await new Promise<Mocha.Runner>((resolve) => {
  const runner = mocha.run(() => resolve(runner));
  countInto(runner);
});
const failures = stats?.failures ?? 1;
console.log(`${stats?.passes ?? 0} passed, ${failures} failed`);
process.exit(failures > 0 ? 1 : 0);

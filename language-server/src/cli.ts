import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { pathToFileURL } from 'node:url';
import { runCommandLine } from './cli/main.ts';
import { exitCodes } from './cli/exitCodes.ts';
import { openScreen } from './cli/screen.ts';
import { printable, type Terminal } from './cli/terminal.ts';
import { keeperCommands } from './cli/workerCommand.ts';
import { spawnWorkerKeeper, stateHome, wantsColour } from './environment.ts';
import { openProjects } from './project/nodeProjects.ts';
import { createEngineServices } from './services.ts';

/** The command line: the engine in this process, driven by one command. Built to `dist/cli.mjs`. */

const interrupt = new AbortController();
// A reader that went away (`| head`) is no error.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
process.on('SIGINT', () => interrupt.abort());
process.on('SIGTERM', () => interrupt.abort());

const terminal: Terminal = {
  out: (line) => void process.stdout.write(`${line}\n`),
  note: (line) => void process.stderr.write(`${line}\n`),
  isInteractive: process.stdin.isTTY && process.stdout.isTTY,
  screen: process.stdin.isTTY && process.stdout.isTTY ? openScreen(process.stdin, process.stdout) : undefined,
  hasColour: wantsColour(process.stdout.isTTY),
  ask: async (question) => {
    const input = createInterface({ input: process.stdin, output: process.stdout });
    try {
      return await input.question(question, { signal: interrupt.signal });
    } catch {
      return '';
    } finally {
      input.close();
    }
  },
};

if (process.argv[2] === 'vault') {
  // Nothing of this program holds a value: what does is one of its own (`extension/src/vault/run/`).
  const path = pathToFileURL(join(import.meta.dirname, 'vault.mjs')).href;
  const { runVaultCommandLine } = (await import(path)) as {
    runVaultCommandLine: (argv: readonly string[], home: string) => Promise<number>;
  };
  process.exit(await runVaultCommandLine(process.argv.slice(3), stateHome()));
}

if (process.argv[2] === 'worker' && keeperCommands.has(process.argv[3] ?? '')) {
  const keeper = spawnWorkerKeeper(join(import.meta.dirname, 'remote-agent.cjs'), process.argv.slice(3));
  // Ctrl-C reaches both; what is sent to this process alone is passed on.
  process.on('SIGTERM', () => keeper.kill('SIGTERM'));
  process.exit(
    await new Promise<number>((resolve) => {
      keeper.once('error', (error) => {
        terminal.note(printable(`The worker’s program can’t be started: ${error.message}`));
        resolve(exitCodes.cannotGoOn);
      });
      keeper.once('exit', (code) => resolve(code ?? exitCodes.cannotGoOn));
    }),
  );
}

const noted = new Set<string>();

process.exitCode = await runCommandLine(process.argv.slice(2), terminal, {
  version: packageVersion,
  interrupted: interrupt.signal,
  openProjects: (root) => openProjects({ roots: [root] }),
  createServices: (projects, notify) =>
    createEngineServices({
      home: stateHome(),
      trusted: true,
      projects,
      programs: import.meta.dirname,
      notify,
      onProblem: (problem) => noteOnce(problem.trim().split('\n')[0] ?? ''),
    }),
});

/** The same complaint is made once. */
function noteOnce(problem: string): void {
  if (problem === '' || noted.has(problem)) return;
  noted.add(problem);
  terminal.note(printable(problem));
}

/** The version of the package that this program was built for. */
function packageVersion(): string {
  const text = readFileSync(join(import.meta.dirname, '..', 'package.json'), 'utf8');
  const { version } = JSON.parse(text) as { version: string };
  return version;
}

import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import { helpText, parseArguments, UsageError, type Arguments, type CommandName } from './arguments.ts';
import { appCommand } from './appCommand.ts';
import { vmCommand } from './vmCommand.ts';
import { workerCommand } from './workerCommand.ts';
import { checkCommand } from './checkCommand.ts';
import { errorExitCode, exitCodes } from './exitCodes.ts';
import { cleanCommand, doctorCommand, dryRunCommand, historyCommand, whyCommand } from './lookCommands.ts';
import { permissionsCommand } from './permissionsCommand.ts';
import { runCommand } from './runCommand.ts';
import { openSession, type Session, type SessionParts } from './session.ts';
import { printable, type Terminal } from './terminal.ts';

const commands: Readonly<Record<CommandName, (session: Session) => Promise<number> | number>> = {
  run: runCommand,
  check: checkCommand,
  'dry-run': dryRunCommand,
  history: historyCommand,
  why: whyCommand,
  permissions: permissionsCommand,
  doctor: doctorCommand,
  clean: cleanCommand,
  app: appCommand,
  vm: vmCommand,
  worker: workerCommand,
};

/** Runs one command line and returns its exit code. Never rejects. */
export async function runCommandLine(
  argv: readonly string[],
  terminal: Terminal,
  parts: SessionParts & { readonly version: () => string },
): Promise<number> {
  let args: Arguments;
  try {
    args = parseArguments(argv);
  } catch (error) {
    terminal.note(printable(errorMessage(error)));
    return error instanceof UsageError ? exitCodes.badProject : exitCodes.cannotGoOn;
  }
  if (args.command === 'help' || args.command === 'version') {
    terminal.out(args.command === 'help' ? helpText() : parts.version());
    return exitCodes.done;
  }
  let session: Session | undefined;
  try {
    session = openSession(args, terminal, parts);
    return await commands[args.command](session);
  } catch (error) {
    terminal.note(printable(errorMessage(error)));
    const remedy = error instanceof UserError ? error.data['remedy'] : undefined;
    if (typeof remedy === 'string') terminal.note(printable(remedy));
    if (args.json) terminal.out(JSON.stringify(failureReport(args.command, error)));
    if (error instanceof UsageError) return exitCodes.badProject;
    return error instanceof UserError ? errorExitCode(error.code) : exitCodes.cannotGoOn;
  } finally {
    await session?.dispose();
  }
}

function failureReport(command: CommandName, error: unknown) {
  const report = {
    error: { code: error instanceof UserError ? error.code : 'internal', message: errorMessage(error) },
  };
  return command === 'run' ? { run: null, cards: [], ...report } : report;
}

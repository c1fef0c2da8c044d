import { personVariables } from './environment.ts';
import { runVaultCommand } from './vaultCommand.ts';

/**
 * The part of the command line that holds vault values, built to `dist/vault.mjs`: the engine's part imports it by its
 * path when it is asked for, so that neither the engine nor what it imports ever contains it.
 */
export function runVaultCommandLine(argv: readonly string[], home: string): Promise<number> {
  return runVaultCommand(argv, {
    home,
    variables: personVariables(),
    output: process.stdout,
    errors: process.stderr,
    folder: process.cwd(),
    input: 'inherit',
    platform: process.platform,
    onSignal: (listener) => {
      // A terminal sends Ctrl-C to the command itself; here it must only not end what passes its output on.
      const stay = (): void => undefined;
      process.on('SIGINT', stay);
      process.on('SIGTERM', listener);
      process.on('SIGHUP', listener);
      return () => {
        process.off('SIGINT', stay);
        process.off('SIGTERM', listener);
        process.off('SIGHUP', listener);
      };
    },
  });
}

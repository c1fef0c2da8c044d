import type { Writable } from 'node:stream';
import { createScrubber, tooShort } from '../../../../protocol/src/scrub/scrubber.ts';
import type { OpenOptions } from '../core/openOptions.ts';
import type { Vault } from '../core/vaultContract.ts';
import { VaultError } from '../core/vaultState.ts';
import { parseRunArguments, VaultUsageError, type RunArguments } from './arguments.ts';
import { childEnvironment } from './childEnvironment.ts';
import { ClosedVault, openForCommand } from './openForCommand.ts';
import { descriptorReader, terminalReader, type KeyReader } from './readKeys.ts';
import { runWithValues, type CommandRun } from './runWithValues.ts';

export interface VaultSurroundings extends Pick<CommandRun, 'folder' | 'input' | 'onSignal' | 'platform'> {
  /** The folder of Sallyport's state. */
  readonly home: string;
  readonly variables: Readonly<Record<string, string | undefined>>;
  readonly output: Pick<Writable, 'write'>;
  readonly errors: Pick<Writable, 'write'>;
  /** Replaced in tests. */
  readonly derive?: OpenOptions['derive'];
}

/** As the rest of the command line has them: bad command, permission needed, could not go on. */
const exitCodes = { usage: 2, closed: 3, broken: 5 } as const;

/** `sallyport vault …`: resolves with the exit code, which is the command's own where it ran. Never rejects. */
export async function runVaultCommand(argv: readonly string[], around: VaultSurroundings): Promise<number> {
  const say = (text: string): void => void around.errors.write(`${text}\n`);
  try {
    const args = parseRunArguments(argv);
    const values = await readValues(args, around);
    say(
      'sallyport: the output comes without the values; that stops accidents only, the command itself has them.',
    );
    return await runWithValues({
      ...around,
      command: args.command,
      environment: childEnvironment(around.variables, args.passed, values),
      scrubber: createScrubber([...values.values()]),
    });
  } catch (error) {
    if (error instanceof VaultUsageError) {
      say(error.message);
      return exitCodes.usage;
    }
    if (error instanceof ClosedVault) {
      say(error.message);
      return exitCodes.closed;
    }
    // Nothing else of an error is shown: it may quote what was read.
    say(
      error instanceof VaultError ? `The vault says: ${error.code}` : 'Sallyport could not read the vault.',
    );
    return exitCodes.broken;
  }
}

async function readValues(args: RunArguments, around: VaultSurroundings): Promise<Map<string, string>> {
  const keys = openReader(args.keysDescriptor);
  let vault: Vault | undefined;
  try {
    vault = await openForCommand(
      args.vault,
      around.home,
      keys,
      around.derive ? { derive: around.derive } : {},
    );
    const values = new Map<string, string>();
    for (const [name, where] of args.values) values.set(name, await valueOf(vault, where));
    // Before anything has the values.
    await vault.note(
      [...args.values.values()].map(({ item, field }) => ({
        grant: '',
        principal: 'command',
        item,
        field,
        host: '',
      })),
    );
    return values;
  } finally {
    vault?.lock();
    keys.close();
  }
}

async function valueOf(vault: Vault, { item, field }: { item: string; field: string }): Promise<string> {
  if (!vault.get(item)?.fields.some(({ name }) => name === field)) {
    const known = vault.list().map(({ id, fields }) => `${id}.{${fields.map(({ name }) => name).join(',')}}`);
    throw new ClosedVault(
      `There is no ${item}.${field} in the vault. There is: ${known.slice(0, 50).join(' ')}`,
    );
  }
  using secret = await vault.open(item, field);
  const value = secret.use((bytes) => bytes.toString('utf8'));
  if (value.includes('\0'))
    throw new ClosedVault(`${item}.${field} holds a NUL, which no variable can hold.`);
  if (tooShort([value]).length > 0) {
    throw new ClosedVault(
      `${item}.${field} is shorter than six characters: taking it out of the output would blot out ordinary text, so it is not used.`,
    );
  }
  return value;
}

function openReader(descriptor: number | undefined): KeyReader {
  if (descriptor !== undefined) return descriptorReader(descriptor);
  try {
    return terminalReader();
  } catch (error) {
    throw new ClosedVault(error instanceof Error ? error.message : 'There is no terminal to ask at.');
  }
}

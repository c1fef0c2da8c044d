import { parseArgs } from 'node:util';
import type { VaultKind } from '../core/vaultState.ts';

/** `sallyport vault run`, understood. */
export interface RunArguments {
  readonly vault: VaultKind;
  /** Variable → where its value is. At least one. */
  readonly values: ReadonlyMap<string, { readonly item: string; readonly field: string }>;
  /** Variables of the person's own environment that the command gets beside the usual ones. */
  readonly passed: readonly string[];
  /** A descriptor that the keys are read from, a line each, in place of the terminal. */
  readonly keysDescriptor: number | undefined;
  readonly command: readonly [string, ...string[]];
}

/** A command line that can't be understood. The message says what to type instead. */
export class VaultUsageError extends Error {}

const vaultUsage = [
  'sallyport vault run --env NAME=ITEM.FIELD… [--vault agents] [--pass NAME]… -- COMMAND [ARGUMENT]…',
  '',
  '  --env NAME=ITEM.FIELD  puts the value into this variable of the command',
  '  --vault agents         takes it from the agents’ vault, which its recovery key opens; else from the personal one',
  '  --pass NAME            hands on this variable of yours; others than the usual ones stay behind',
  '  --keys-fd N            reads password and Secret Key (or the recovery key), a line each, from descriptor N',
  '',
  'The command’s output comes without the values. That stops accidents and nothing else: the command has the values and',
  'can write them anywhere, and other programs of yours can read its environment while it runs.',
].join('\n');

const options = {
  env: { type: 'string', multiple: true },
  pass: { type: 'string', multiple: true },
  vault: { type: 'string' },
  'keys-fd': { type: 'string' },
} as const;

/** Throws `VaultUsageError`. */
export function parseRunArguments(argv: readonly string[]): RunArguments {
  const [verb, ...rest] = argv;
  const end = rest.indexOf('--');
  if (verb !== 'run' || end < 0) throw new VaultUsageError(`Usage: ${vaultUsage}`);
  const given = parse(rest.slice(0, end));
  const [program, ...words] = rest.slice(end + 1);
  if (program === undefined || program === '') throw new VaultUsageError('Name the command after --.');
  const vault = given.vault ?? 'personal';
  if (vault !== 'personal' && vault !== 'agents')
    throw new VaultUsageError(`There is no vault “${vault}”: it is personal or agents.`);
  const values = new Map((given.env ?? []).map(parseValue));
  if (values.size === 0) throw new VaultUsageError('Name at least one value: --env NAME=ITEM.FIELD.');
  for (const name of given.pass ?? []) assertVariable(name);
  const descriptor = given['keys-fd'];
  if (descriptor !== undefined && !/^[0-9]{1,4}$/.test(descriptor))
    throw new VaultUsageError('--keys-fd takes the number of an open descriptor.');
  return {
    vault,
    values,
    passed: given.pass ?? [],
    keysDescriptor: descriptor === undefined ? undefined : Number(descriptor),
    command: [program, ...words],
  };
}

function parse(words: readonly string[]) {
  try {
    return parseArgs({ args: [...words], options, strict: true }).values;
  } catch (error) {
    throw new VaultUsageError(error instanceof Error ? error.message : String(error));
  }
}

const part = '[a-z][a-z0-9-]{0,63}';

function parseValue(text: string): [string, { item: string; field: string }] {
  const [, name, item, field] = new RegExp(`^([^=]*)=(${part})\\.(${part})$`).exec(text) ?? [];
  if (name === undefined || item === undefined || field === undefined) {
    // What was typed is not repeated: it may be a value by mistake.
    throw new VaultUsageError(
      '--env takes NAME=ITEM.FIELD, such as TOKEN=api.token; values never stand on a command line.',
    );
  }
  assertVariable(name);
  if (steering.test(name))
    throw new VaultUsageError(`The variable ${name} steers how programs start. Use another name.`);
  return [name, { item, field }];
}

function assertVariable(name: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name))
    throw new VaultUsageError('A variable’s name has letters, digits and underscores.');
}

/** Variables by which a value would become a program's code or search path. */
const steering = /^(PATH|HOME|IFS|ENV|BASH_ENV|SHELL|NODE_OPTIONS|PERL5OPT|RUBYOPT|PYTHON.*|(LD|DYLD)_.*)$/;

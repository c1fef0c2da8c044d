import { parseArgs } from 'node:util';

export const commands = [
  'run',
  'check',
  'dry-run',
  'history',
  'why',
  'permissions',
  'doctor',
  'clean',
  'app',
  'vm',
  'worker',
] as const;
export type CommandName = (typeof commands)[number];

export interface Arguments {
  readonly command: CommandName | 'help' | 'version';
  /** What follows the command: the project, then what else it takes. */
  readonly operands: readonly string[];
  readonly json: boolean;
  readonly cards: readonly string[];
  readonly ignoreCache: boolean;
  readonly review: boolean;
  readonly olderThanDays: number | undefined;
  readonly yes: boolean;
  /** The digest of the review that a person read. */
  readonly accept: string | undefined;
  readonly ref: string | undefined;
  /** Who a worker is told that this is. */
  readonly as: string | undefined;
  /** Means the VM of the cards that were given a network. */
  readonly network: boolean;
}

/** A command line that can't be understood. The message says what to type instead. */
export class UsageError extends Error {}

const options = {
  json: { type: 'boolean' },
  card: { type: 'string', multiple: true },
  'ignore-cache': { type: 'boolean' },
  review: { type: 'boolean' },
  'older-than-days': { type: 'string' },
  yes: { type: 'boolean' },
  accept: { type: 'string' },
  ref: { type: 'string' },
  as: { type: 'string' },
  network: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

/** The options that each command takes; one that would be ignored is refused. */
const taken: Readonly<Record<CommandName, readonly string[]>> = {
  run: ['json', 'card', 'ignore-cache'],
  check: ['json'],
  'dry-run': ['json', 'card'],
  history: ['json'],
  why: ['json'],
  permissions: ['json', 'review'],
  doctor: ['json'],
  clean: ['json', 'older-than-days', 'yes'],
  app: ['json', 'accept', 'ref', 'yes'],
  vm: ['json', 'accept', 'network'],
  worker: ['json', 'as'],
};

const operandCounts: Readonly<Record<CommandName, readonly [number, number]>> = {
  run: [1, 1],
  check: [1, 1],
  'dry-run': [1, 1],
  history: [1, 2],
  why: [2, 2],
  permissions: [1, 1],
  doctor: [0, 1],
  clean: [0, 1],
  app: [1, 3],
  vm: [1, 2],
  worker: [1, 3],
};

/** Understands a command line, without its program. Throws `UsageError`. */
export function parseArguments(argv: readonly string[]): Arguments {
  const { values, positionals } = parse(argv);
  const [command, ...operands] = positionals;
  const result = (name: Arguments['command']): Arguments => ({
    command: name,
    operands,
    json: values.json ?? false,
    cards: values.card ?? [],
    ignoreCache: values['ignore-cache'] ?? false,
    review: values.review ?? false,
    olderThanDays: days(values['older-than-days']),
    yes: values.yes ?? false,
    accept: values.accept,
    ref: values.ref,
    as: values.as,
    network: values.network ?? false,
  });
  if (values.version) return result('version');
  if (values.help || command === undefined || command === 'help') return result('help');
  if (!isCommand(command)) {
    throw new UsageError(`There is no command “${command}”. Commands: ${commands.join(', ')}.`);
  }
  for (const name of Object.keys(values)) {
    if (!taken[command].includes(name)) throw new UsageError(`“${command}” takes no --${name}.`);
  }
  const [least, most] = operandCounts[command];
  if (operands.length < least || operands.length > most) {
    throw new UsageError(`Usage: ${usages[command]}`);
  }
  return result(command);
}

export const usages: Readonly<Record<CommandName, string>> = {
  run: 'sallyport run PROJECT [--card ID]… [--ignore-cache] [--json]',
  check: 'sallyport check PROJECT [--json]',
  'dry-run': 'sallyport dry-run PROJECT [--card ID]… [--json]',
  history: 'sallyport history PROJECT [RUN] [--json]',
  why: 'sallyport why PROJECT CARD [--json]',
  permissions: 'sallyport permissions PROJECT [--review] [--json]',
  doctor: 'sallyport doctor [PROJECT] [--json]',
  clean: 'sallyport clean [PROJECT] [--older-than-days N] [--yes] [--json]',
  app: 'sallyport app list | review SOURCE | install SOURCE [--accept DIGEST] | update ID [--accept DIGEST] | delete ID --yes | export ID FILE  [--ref REF] [--json]',
  vm: 'sallyport vm build | status | remove | export FILE | import FILE [--accept DIGEST]  [--json] | terminal [PROJECT] [--network]',
  worker:
    'sallyport worker join NAME [INVITATION] [--as WHO] | known | forget NAME | serve | invite | list | identity | remove FINGERPRINT  [--json]',
};

const summaries: Readonly<Record<CommandName, string>> = {
  run: 'run the project’s cards, sealed, and reuse what has not changed',
  check: 'list what is wrong in its manifests',
  'dry-run': 'say what would run, and why',
  history: 'list its runs, or the cards of one run',
  why: 'say why a card ran in the latest run',
  permissions: 'list what the cards ask for; --review answers it, at a terminal',
  doctor: 'look at the isolation, the interpreters and the store',
  clean: 'show what is stored, then remove what no run needs',
  app: 'list, review, install, update, delete and export apps',
  vm: 'build the image that VMs start from, show what is in it, remove it, take it elsewhere; open a terminal in a VM',
  worker: 'enrol at a worker and forget it; keep one for others (serve, invite, list, identity, remove)',
};

/** The text of `--help`. */
export function helpText(): string {
  const width = Math.max(...commands.map((name) => name.length));
  return [
    'Sallyport runs cards sealed.',
    '',
    ...commands.map((name) => `  ${name.padEnd(width)}  ${summaries[name]}`),
    '',
    ...commands.map((name) => `  ${usages[name]}`),
    '  sallyport vault run --env NAME=ITEM.FIELD… -- COMMAND…    (more: sallyport vault)',
    '',
    '  --json     one JSON value on standard output, everything else on standard error',
    '  --help, --version',
    '',
    'Exit codes: 0 done, 1 a card failed, 2 bad project or bad command, 3 permission needed,',
    '4 isolation missing, 5 Sallyport itself could not go on, 130 cancelled.',
    'State is kept in SALLYPORT_HOME, else in the system’s folder for it.',
  ].join('\n');
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} Try sallyport --help.`);
  }
}

function isCommand(name: string): name is CommandName {
  return (commands as readonly string[]).includes(name);
}

function days(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^[0-9]{1,5}$/.test(value)) throw new UsageError('--older-than-days takes a whole number of days.');
  return Number(value);
}

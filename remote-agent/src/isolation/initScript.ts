import { mostDescriptors } from '../../../protocol/src/vaultUse.ts';

/** Bounds that the kernel keeps for each process; undefined leaves what the runner has. */
export interface ProcessLimits {
  /** Processes and threads of the whole sandbox, its own two included. */
  readonly processes: number | undefined;
  /** Private writable memory (RLIMIT_DATA): unlike address space it does not count what V8 and the JVM only reserve. */
  readonly dataBytes: number | undefined;
  readonly fileBytes: number | undefined;
  readonly openFiles: number;
}

export interface InitCommand {
  /** The program as an absolute path, and its words. */
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
  readonly limits: ProcessLimits;
  /** Texts that the program reads from a descriptor of its own, whose number is in the variable `name`. At most four. */
  readonly descriptors?: readonly { readonly name: string; readonly value: string }[];
}

/** A program of ours that runs to its end inside before the sandbox counts as standing. */
export interface Preparation {
  readonly argv: readonly [string, ...string[]];
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The shell inside waits for its next line on descriptor 0 and tells how things went on descriptor 2. What a program writes
 * goes to higher ones: bubblewrap's outer process keeps its first three as long as it lives, and a log ends with the card.
 */
export const initDescriptors = {
  script: 0,
  unused: 1,
  report: 2,
  progress: 3,
  errors: 4,
  output: 5,
  channel: 6,
} as const;

/**
 * The first thing that the shell is asked: it answers once the whole sandbox stands. The preparation alone gets the
 * channel; its failure ends the shell, with its words on the report.
 */
export function readyScript(preparation?: Preparation): string {
  if (!preparation) return 'echo ready >&2\n';
  const environment = Object.entries(preparation.environment).map(
    ([name, value]) => `${name}=${shellQuote(value)}`,
  );
  const words = [...environment, ...preparation.argv.map(shellQuote)].join(' ');
  return `${words} </dev/null >/dev/null 3>&- 4>&- 5>&- || exit 125\nexec 6>&-\necho ready >&2\n`;
}

/**
 * The shell text that runs one program and reports `exit N`. The program gets no input, standard output and error,
 * descriptor 3 for progress, those in `descriptors` (each text with a line feed after it), and nothing else. Quoting is no boundary here: the shell is as sealed as the program.
 */
export function initScript(command: InitCommand): string {
  const { limits } = command;
  const bounds = [
    'ulimit -c 0',
    `ulimit -n ${limits.openFiles}`,
    ...(limits.processes === undefined
      ? []
      : // dash counts processes with -p, bash with -u; bash's -p can't be set and fails.
        [`{ ulimit -p ${limits.processes} || ulimit -u ${limits.processes}; } 2>/dev/null`]),
    ...(limits.dataBytes === undefined ? [] : [`ulimit -d ${Math.ceil(limits.dataBytes / 1024)}`]),
    ...(limits.fileBytes === undefined ? [] : [`ulimit -f ${Math.ceil(limits.fileBytes / 512)}`]),
  ];
  const texts = (command.descriptors ?? []).map(({ name, value }, index) => ({
    name,
    value,
    number: firstTextDescriptor + index,
    end: delimiterOf(value),
  }));
  if (texts.length > mostDescriptors)
    throw new RangeError('A program gets at most four texts from descriptors');
  const environment = [
    ...Object.entries(command.environment),
    ...texts.map(({ name, number }) => [name, String(number)] as const),
  ].map(([name, value]) => `export ${name}=${shellQuote(value)}`);
  const redirections = texts.map(({ number, end }) => ` ${number}<<'${end}'`).join('');
  return [
    `${bounds.join(' && ')} || exit 125`,
    ...environment,
    // In a subshell, so that the shell's own words about a signal stay on its descriptor 2.
    `(exec ${command.argv.map(shellQuote).join(' ')} </dev/null >&5 2>&4 4>&- 5>&- 6>&-${redirections})`,
    ...texts.flatMap(({ value, end }) => [value, end]),
    'echo "exit $?" >&2',
    '',
  ].join('\n');
}

/** POSIX shells name a descriptor with one digit; the lower ones are taken. */
const firstTextDescriptor = 6;

/**
 * A line that the text itself does not hold. dash compares each line with it from the beginning and loses a byte beyond
 * ASCII where they first differ, unless that is the very first byte; so no line begins as it does and goes on with one.
 */
function delimiterOf(text: string): string {
  if (text.includes('\0')) throw new TypeError('Failed to pass a text to a program: it contains NUL');
  const lines = text.split('\n');
  for (const first of delimiterBeginnings) {
    const alike = lines.filter((line) => line.startsWith(first));
    let end = `${first}END_OF_TEXT`;
    while (alike.includes(end)) end += '_';
    if (!alike.some((line) => losesByte(line, end))) return end;
  }
  throw new RangeError('Failed to pass a text to a program: its lines begin in too many ways');
}

/** All of printable ASCII that may stand in single quotes. */
const delimiterBeginnings = Array.from({ length: 94 }, (_, at) => String.fromCharCode(0x21 + at)).filter(
  (each) => each !== "'",
);

function losesByte(line: string, end: string): boolean {
  let same = 0;
  while (same < end.length && line[same] === end[same]) same += 1;
  return same > 0 && line.charCodeAt(same) > 0x7f;
}

/** One word for a POSIX shell. Throws on NUL, which no program can be given. */
export function shellQuote(word: string): string {
  if (word.includes('\0')) throw new TypeError('Failed to pass a word to a program: it contains NUL');
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

export type Report =
  | { readonly kind: 'running' }
  | { readonly kind: 'ready' }
  /** `said` is what the shell itself printed: it names the signal, or why the program could not be started. */
  | { readonly kind: 'exited'; readonly exitCode: number; readonly said: string }
  | { readonly kind: 'signalled'; readonly number: number; readonly said: string };

/**
 * Reads what the shell said so far. A status over 128 is a signal only where the shell also said so: it is silent
 * for a program that itself exits with such a number, and for SIGINT and SIGPIPE, which are taken as signals.
 */
export function parseReport(text: string): Report {
  const match = /^([^]*?)(?:^|\n)exit ([0-9]{1,3})\n/.exec(text);
  if (!match) return text === 'ready\n' ? { kind: 'ready' } : { kind: 'running' };
  const said = (match[1] ?? '').replace(/^ready(\n|$)/, '').trim();
  const status = Number(match[2]);
  const silentSignals = [2, 13];
  return status > 128 && status <= 192 && (said !== '' || silentSignals.includes(status - 128))
    ? { kind: 'signalled', number: status - 128, said }
    : { kind: 'exited', exitCode: status, said };
}

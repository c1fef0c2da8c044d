import { realpathSync } from 'node:fs';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { EgressRecord } from '../../../../protocol/src/runner.ts';
import type { EgressNetwork } from '../../../../remote-agent/src/egressDial.ts';
import { about, defineTool, thing } from '../tools/defineTool.ts';
import type { CallContext, Tool, ToolOutput } from '../tools/tool.ts';
import { keepChanges, type KeepDeps } from './keepChanges.ts';
import { runShell, type ShellEnd } from './runShell.ts';
import { createShellFetch } from './shellFetch.ts';

export interface ShellDeps extends KeepDeps {
  /** The built worker: `shell-worker.mjs`. */
  readonly script: string;
  /** The person's setting `shellInternet`: whether a call may ask for the internet at all. */
  readonly hasInternet: () => boolean;
  readonly record: (context: CallContext, record: EgressRecord) => void;
  readonly now: () => number;
  readonly setTimer: (run: () => void, ms: number) => () => void;
  /** Replaced in tests. */
  readonly network?: EgressNetwork;
}

const defaultSeconds = 30;

const shellInput = z.strictObject({
  command: about(
    'A bash command or script. It starts in /project, with empty standard input.',
    z.string().check(z.minLength(1), z.maxLength(64 * 1024)),
  ),
  seconds: z.optional(
    about(
      `Seconds after which it is stopped, 1 to 120; ${defaultSeconds} where left out.`,
      z.int().check(z.minimum(1), z.maximum(120)),
    ),
  ),
  internet: z.optional(
    about(
      'True where the command needs curl and the public internet (GET and HEAD only). A person is asked for each such call.',
      z.boolean(),
    ),
  ),
});

/** `shell`: bash and its usual tools in memory, over the project. It starts no program of this machine. */
export function shellTool(deps: ShellDeps): Tool {
  return defineTool({
    name: 'shell',
    description:
      'Runs a bash command over the project, seen at /project, in memory: grep, sed, awk, jq, yq, find, diff, tar and the like, but no program of this machine (no python, node, git or compilers: use project_shell or cards for those). Version control’s folders are not seen. Changed files are kept only after their own review; everything else is gone afterwards. Returns exit code, output and changes.',
    input: shellInput,
    list: 'ordinary',
    effect: 'shell',
    async prepare({ command, seconds = defaultSeconds, internet: hasInternet = false }, context) {
      if (hasInternet && !deps.hasInternet()) {
        throw new UserError(
          'permission-needed',
          'The shell has no internet here. Only a person can allow it, with the setting sallyport.shellInternet. Leave internet out, or use web_fetch.',
          {},
        );
      }
      return {
        args: { command, seconds, internet: hasInternet },
        permissions: [],
        // The host is what the decision table goes by: what the internet hears can't be taken back.
        measure: async () => [
          thing('project', context.root, null),
          ...(hasInternet ? [thing('host', 'the public internet', null)] : []),
        ],
        describe: () => ({
          title: hasInternet
            ? 'Run a shell command in memory, with the public internet'
            : 'Run a shell command in memory',
          lines: command.split('\n'),
          fullText: null,
        }),
        run: (signal) => run(deps, context, { command, seconds, hasInternet }, signal),
      };
    },
  });
}

async function run(
  deps: ShellDeps,
  context: CallContext,
  { command, seconds, hasInternet }: { command: string; seconds: number; hasInternet: boolean },
  signal: AbortSignal,
): Promise<ToolOutput> {
  const end = await runShell(
    {
      root: realpathSync.native(context.root),
      command,
      hasInternet,
      limits: {
        seconds,
        outputBytes: 256 * 1024,
        fileBytes: 32 * 1024 * 1024,
        totalBytes: 128 * 1024 * 1024,
        entriesPerFolder: 20_000,
      },
    },
    {
      script: deps.script,
      signal,
      setTimer: deps.setTimer,
      fetch: hasInternet
        ? createShellFetch({
            opId: context.opId,
            record: (record) => deps.record(context, record),
            now: deps.now,
            network: deps.network,
          })
        : undefined,
    },
  );
  if (end.kind !== 'end')
    return { text: `${tellFailure(end)} Nothing that it changed was kept.`, isError: true };
  const text = tellEnd(end);
  const isError = end.exitCode !== 0;
  if (end.files.length === 0) return { text: text.join('\n'), isError };
  const failed = (why: string): ToolOutput => ({ text: [...text, why].join('\n'), isError: true });
  try {
    const kept = await keepChanges(deps, context, end.files, signal);
    switch (kept.kind) {
      case 'done': {
        const { text: told, changes = [] } = kept.value;
        return { text: [...text, told].join('\n'), isError, changes };
      }
      case 'failed':
        return failed(`Its changes were not kept: ${kept.message}`);
      case 'refused':
        return failed(`Its changes were not kept (${kept.code}): ${kept.reason}`);
      case 'unknown':
        return failed(`Whether its changes were kept is unknown: ${kept.reason}`);
    }
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return failed(`Its changes were not kept: ${error.message}`);
  }
}

function tellFailure(end: Exclude<ShellEnd, { kind: 'end' }>): string {
  switch (end.kind) {
    case 'timeout':
      return `Stopped: it ran longer than ${end.seconds} s (time-out; there is no exit code, and its output is lost).`;
    case 'cancelled':
      return 'Cancelled.';
    case 'memory':
      return 'Stopped: it needed more memory than the shell has.';
    case 'fault':
      return `The shell failed: ${end.message}.`;
  }
}

function tellEnd({
  exitCode,
  stdout,
  stderr,
  cutStdout,
  cutStderr,
  links,
}: Extract<ShellEnd, { kind: 'end' }>) {
  const cut = cutStdout + cutStderr;
  return [
    `Exit code ${exitCode}.${cut > 0 ? ` ${cut} characters of its output were left out.` : ''}`,
    ...(stdout === '' ? [] : [`Standard output:\n${stdout}`]),
    ...(stderr === '' ? [] : [`Standard error:\n${stderr}`]),
    ...(links.length > 0 ? [`Links are not kept: ${links.join(', ')}`] : []),
  ];
}

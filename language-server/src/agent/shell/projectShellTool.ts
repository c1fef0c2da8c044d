import { realpathSync } from 'node:fs';
import { opendir } from 'node:fs/promises';
import { join } from 'node:path';
import * as z from 'zod/mini';
import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { HiddenPath, JobOutcome, JobResult } from '../../../../protocol/src/runner.ts';
import type { BlobStore } from '../../../../remote-agent/src/files/blobStore.ts';
import type { LocalRunner } from '../../runners/local.ts';
import type { CardJob } from '../../runners/cardRunner.ts';
import { isolationFault } from '../../runs/place.ts';
import { about, defineTool, thing } from '../tools/defineTool.ts';
import type { Tool, ToolOutput } from '../tools/tool.ts';
import { isHiddenFromShells } from './controlFolders.ts';
import { namedFiles } from './namedFiles.ts';

export interface ProjectShellDeps {
  readonly runner: () => Pick<LocalRunner, 'ready' | 'run'>;
  readonly blobs: () => Pick<BlobStore, 'putBytes'>;
  /** A text that is another one after each change that anybody made through Sallyport in this project. */
  readonly changeMark: (root: string) => string;
  readonly createId: () => string;
}

const mount = '/project';
const defaultSeconds = 120;

const input = z.strictObject({
  command: about(
    'A command for /bin/sh. It starts in /project, which is read-only; $HOME and /tmp can be written and are gone afterwards. Standard input is empty: what asks for input gets the end of file at once.',
    z.string().check(z.minLength(1), z.maxLength(32 * 1024)),
  ),
  seconds: z.optional(
    about(
      `Seconds after which it is stopped, 1 to 600; ${defaultSeconds} where left out.`,
      z.int().check(z.minimum(1), z.maximum(600)),
    ),
  ),
});

/** `project_shell`: real programs, sealed like a card and with the project to read. */
export function projectShellTool(deps: ProjectShellDeps): Tool {
  return defineTool({
    name: 'project_shell',
    description:
      'Runs a command with the programs of this machine (python, node, compilers), sealed: no network, no keys, no sockets; the project is read-only at /project without its version control; nothing is kept but what it prints. Use it to test and to inspect; use cards for work that has results. Returns exit code and output.',
    input,
    list: 'ordinary',
    effect: 'projectShell',
    async prepare({ command, seconds = defaultSeconds }, { root }) {
      if (command.includes('\0')) throw new UserError('bad-message', 'A command can’t hold NUL', {});
      return {
        args: { command, seconds },
        permissions: [],
        measure: async () => [
          thing('project', root, deps.changeMark(realpathSync.native(root))),
          ...namedFiles(root, command, mount),
        ],
        describe: (targets) => ({
          title: 'Run a command with real programs, sealed',
          lines: [
            ...command.split('\n'),
            ...targets
              .filter(({ kind }) => kind === 'script')
              .map(({ name }) => `It names the file ${name}.`),
          ],
          fullText: null,
        }),
        async run(signal) {
          const info = await deps.runner().ready();
          const fault = isolationFault(info.isolation);
          if (fault) {
            throw new UserError('isolation-missing', `${fault.detail}. ${fault.remedy ?? ''}`.trim(), {});
          }
          const projectRoot = realpathSync.native(root);
          const projectHidden = await findHidden(projectRoot);
          return execute(deps, toJob(deps, command, seconds, { projectRoot, projectHidden }), signal);
        },
      };
    },
  });
}

function toJob(
  deps: ProjectShellDeps,
  command: string,
  seconds: number,
  project: { readonly projectRoot: string; readonly projectHidden: HiddenPath[] },
): CardJob {
  const nothing = deps.blobs().putBytes(Buffer.from(canonicalJson({ version: 1, entries: [] })));
  return {
    jobId: `shell-${deps.createId()}`
      .toLowerCase()
      .replace(/[^a-z0-9-]/g, '-')
      .slice(0, 80),
    cardId: 'project_shell',
    runtime: 'command',
    // The command is one word of its own: it is never put together with other text.
    entry: ['/bin/sh', '-c', `cd ${mount} && exec /bin/sh -c "$1"`, 'sh', command],
    code: { kind: 'directory', digest: nothing.digest, sizeBytes: 0, files: 0 },
    inputs: [],
    outputs: [],
    params: '{}',
    limits: { seconds, memoryMB: 2048, processes: 128, outputMB: 16, logMB: 1 },
    access: { network: { kind: 'none' }, hostFolders: [], ...project },
  };
}

async function execute(deps: ProjectShellDeps, job: CardJob, signal: AbortSignal): Promise<ToolOutput> {
  const printed = { stdout: '', stderr: '' };
  const result = await deps.runner().run(
    job,
    {
      started: () => undefined,
      log: (stream, text) => void (printed[stream] += text),
      progress: () => undefined,
      egress: () => undefined,
    },
    signal,
  );
  const { outcome } = result;
  return {
    text: [
      tellOutcome(outcome),
      `It ran ${Math.round(result.runMs)} ms and waited ${Math.round(result.waitMs)} ms for a place. Standard input was empty.`,
      ...(result.logCutBytes > 0 ? [`${result.logCutBytes} bytes of its output were not kept.`] : []),
      ...(printed.stdout === '' ? [] : [`Standard output:\n${printed.stdout}`]),
      ...(printed.stderr === '' ? [] : [`Standard error:\n${printed.stderr}`]),
    ].join('\n'),
    isError: !(outcome.kind === 'exited' && outcome.exitCode === 0),
  };
}

function tellOutcome(outcome: JobResult['outcome']): string {
  switch (outcome.kind) {
    case 'exited':
      return `Exit code ${outcome.exitCode}.`;
    case 'signalled':
      return `Ended by signal ${outcome.signal}; there is no exit code.`;
    case 'timeout':
      return `Stopped: it ran longer than ${outcome.seconds} s (time-out; there is no exit code).`;
    case 'limit':
      return `Stopped at its limit of ${outcome.limit}: ${outcome.detail}.`;
    case 'cancelled':
      return 'Cancelled.';
    case 'exception':
    case 'unknown':
      return `How it ended is not known: ${detailOf(outcome)}. It is neither success nor failure.`;
    case 'refused':
      return `Not run (${outcome.code}): ${outcome.detail}.${outcome.remedy === undefined ? '' : ` ${outcome.remedy}`}`;
  }
}

function detailOf(outcome: Extract<JobOutcome, { kind: 'exception' | 'unknown' }>): string {
  return outcome.kind === 'exception' ? outcome.message : outcome.detail;
}

const maximumFolders = 20_000;
const maximumHidden = 500;

/** Every control folder and file of the project. Throws `too-large` where they can't all be found: then nothing runs. */
export async function findHidden(root: string): Promise<HiddenPath[]> {
  const hidden: HiddenPath[] = [];
  const folders = [''];
  let looked = 0;
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    if (++looked > maximumFolders || hidden.length > maximumHidden) {
      throw new UserError(
        'too-large',
        `This project has more than ${maximumFolders} folders, or more than ${maximumHidden} that a shell must not see. Use shell, or a card.`,
        {},
      );
    }
    for await (const entry of await opendir(join(root, folder))) {
      const path = folder === '' ? entry.name : `${folder}/${entry.name}`;
      const isHidden = isHiddenFromShells(entry.name);
      if (entry.isDirectory() && isHidden) hidden.push({ path, kind: 'directory' });
      else if (entry.isDirectory()) folders.push(path);
      else if (entry.isFile() && isHidden) hidden.push({ path, kind: 'file' });
    }
  }
  return hidden.sort((a, b) => (a.path < b.path ? -1 : 1));
}

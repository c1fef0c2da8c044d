/** Why one file of the agent may hold something that acts on the world outside its own memory. */
export interface AllowedUse {
  /** Below language-server/src. */
  readonly file: string;
  /** Module or global, and what is taken from it; names that only look or are types need not be here. */
  readonly from: string;
  readonly names: readonly string[];
  readonly why: string;
}

/** The folders whose code a model's answer can reach first. */
export const watchedFolders: readonly string[] = ['agent', 'gate', 'history', 'net'];

/** Modules that compute and nothing else. Every other one has to be accounted for. */
export const harmlessModules: ReadonlySet<string> = new Set([
  'node:assert/strict',
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:path',
  'node:stream',
  'node:string_decoder',
  'node:timers/promises',
  'node:url',
  'node:util',
  'node:zlib',
  'zod/mini',
]);

/** What only looks at what a path is, never at what it holds. */
export const harmlessNames: ReadonlySet<string> = new Set([
  'closeSync',
  'constants',
  'fstatSync',
  'lstatSync',
  'realpathSync',
  'statSync',
  'process.arch',
  'process.pid',
  'process.platform',
]);

/** Globals of Node that reach outside. */
export const riskyGlobals: ReadonlySet<string> = new Set([
  'fetch',
  'WebSocket',
  'EventSource',
  'XMLHttpRequest',
  'Function',
  'eval',
  'require',
  'process',
  'globalThis',
]);

export const allowedUses: readonly AllowedUse[] = [
  {
    file: 'agent/context/boundedFile.ts',
    from: 'node:fs',
    names: ['openSync', 'readSync'],
    why: 'reads files that the person mentioned and the rules files, for the prompt; the paths are resolved and inside',
  },
  {
    file: 'agent/context/rules.ts',
    from: 'node:fs',
    names: ['readdirSync'],
    why: 'finds rules files in a few folders that are named in the source',
  },
  ...['@ai-sdk/anthropic', '@ai-sdk/openai', '@ai-sdk/openai-compatible', 'ollama-ai-provider-v2'].map(
    (from) => ({
      file: 'agent/providers/providerPackages.ts',
      from,
      names: ['import()'],
      why: 'writes and reads the wire format; its only way out is the `fetch` that it is given (see brokerFetch)',
    }),
  ),
  {
    file: 'agent/context/suggestMentions.ts',
    from: 'node:fs',
    names: ['readdirSync'],
    why: 'names of files for a person who types @, never for a model',
  },
  {
    file: 'agent/shell/namedFiles.ts',
    from: 'node:fs',
    names: ['openSync', 'readSync'],
    why: 'digests of files that a command names; the content goes nowhere',
  },
  {
    file: 'agent/shell/projectShellTool.ts',
    from: 'node:fs/promises',
    names: ['opendir'],
    why: 'finds what the sealed shell must not see, inside the gate',
  },
  {
    file: 'agent/shell/projectView.ts',
    from: 'node:fs',
    names: ['readSync'],
    why: 'files of the project for the shell in memory, following no link; it runs inside the gate',
  },
  {
    file: 'agent/shell/overlayFs.ts',
    from: 'just-bash',
    names: ['InMemoryFs'],
    why: 'holds in memory what the shell writes; kept through keepChanges alone',
  },
  {
    file: 'agent/shell/runShell.ts',
    from: 'node:worker_threads',
    names: ['Worker'],
    why: 'the thread of the shell, without environment, inside the gate',
  },
  {
    file: 'agent/shell/shellWorker.ts',
    from: 'node:worker_threads',
    names: ['parentPort', 'workerData'],
    why: 'that thread’s way to answer',
  },
  {
    file: 'agent/shell/shellWorker.ts',
    from: 'just-bash',
    names: ['Bash'],
    why: 'a shell that starts no program of this machine',
  },
  ...['agent/tools/walkProject.ts', 'agent/tools/searchTool.ts'].map((file) => ({
    file,
    from: 'node:fs',
    names: ['readSync'],
    why: 'looks at the project’s files for list and search, inside the gate',
  })),
  {
    file: 'agent/tools/findInText.ts',
    from: 'node:vm',
    names: ['createContext', 'Script'],
    why: 'gives a regular expression of the model a time limit; the code is fixed, the expression is data in it',
  },
  {
    file: 'agent/tools/ripgrep.ts',
    from: 'node:fs',
    names: ['existsSync'],
    why: 'finds the ripgrep that comes with the editor',
  },
  {
    file: 'net/exchange.ts',
    from: 'node:http',
    names: ['request'],
    why: 'one request over a socket that an egress check opened; it opens none itself (see callers)',
  },
  {
    file: 'net/exchange.ts',
    from: 'node:tls',
    names: ['connect'],
    why: 'the same, over that socket',
  },
  {
    file: 'agent/tools/runLook.ts',
    from: 'node:fs',
    names: ['openSync', 'readSync'],
    why: 'run_read reads a result of a run from the store, inside the gate',
  },
  {
    file: 'agent/tools/toolPath.ts',
    from: 'node:fs',
    names: ['readSync'],
    why: 'reads a file that a tool is to change or to show, by its resolved path and without following links',
  },
  ...['history/hashOnly.ts', 'history/transaction.ts'].map((file) => ({
    file,
    from: 'node:fs',
    names: ['readSync'],
    why: 'compares what is there with what was recorded',
  })),
  {
    file: 'history/transaction.ts',
    from: 'globals',
    names: ['process.getuid'],
    why: 'only root can give a restored file back to its owner',
  },
  {
    file: 'history/fileState.ts',
    from: 'node:fs',
    names: ['readlinkSync'],
    why: 'records what was there before a change',
  },
  {
    file: 'history/transaction.ts',
    from: 'node:fs',
    names: [
      'chmodSync',
      'fchmodSync',
      'fchownSync',
      'mkdirSync',
      'openSync',
      'renameSync',
      'rmdirSync',
      'symlinkSync',
      'unlinkSync',
      'writeSync',
    ],
    why: 'the one place where a person’s files are changed; reached through the journal alone (see callers)',
  },
];

/** Something that acts, and the only files that may call it. */
export interface GuardedMember {
  /** `Class.member`, or `file#function` for a function of a module. */
  readonly member: string;
  readonly callers: readonly { readonly file: string; readonly why: string }[];
}

export const guardedMembers: readonly GuardedMember[] = [
  {
    member: 'PreparedCall.run',
    callers: [
      { file: 'agent/tools/runTool.ts', why: 'inside the effect that the gate runs' },
      { file: 'agent/shell/keepChanges.ts', why: 'inside the act of keeping what a shell changed' },
    ],
  },
  {
    member: 'Gate.pass',
    callers: [
      { file: 'agent/tools/runTool.ts', why: 'every tool' },
      { file: 'agent/loop/request.ts', why: 'a request to a model' },
      { file: 'agent/shell/keepChanges.ts', why: 'what a shell in memory changed, as an act of its own' },
      { file: 'apps/generate/createGenerate.ts', why: 'a request of an app or a plugin to a model' },
      { file: 'history/undo.ts', why: 'a person’s undo and redo' },
      {
        file: 'vault/valueRequests.ts',
        why: 'a request of a plugin with a vault value, made by the extension under a person’s grant',
      },
    ],
  },
  {
    member: 'Gate.answer',
    callers: [
      { file: 'gate/gateHandlers.ts', why: 'the request of the extension, which asks in native UI' },
      { file: 'gate/gate.ts', why: 'declining everything' },
    ],
  },
  {
    member: 'Gate.give',
    callers: [{ file: 'gate/gateHandlers.ts', why: 'the request of the extension, which asks in native UI' }],
  },
  {
    member: 'Consents.accept',
    callers: [
      {
        file: 'permissions/permissionHandlers.ts',
        why: 'the request of the extension, which asks in native UI',
      },
      {
        file: 'agent/tools/saveTool.ts',
        why: 'exactly the permissions that the act was allowed with, inside the gate',
      },
    ],
  },
  {
    member: 'Runs.start',
    callers: [
      { file: 'runs/runHandlers.ts', why: 'a person’s run' },
      { file: 'agent/tools/runCards.ts', why: 'run_cards, inside the gate' },
    ],
  },
  {
    member: 'CardRunner.run',
    callers: [
      { file: 'runs/activeRun.ts', why: 'a card of a run' },
      { file: 'agent/shell/projectShellTool.ts', why: 'project_shell, inside the gate' },
      {
        file: 'apps/sources/sealedFetch.ts',
        why: 'fetches the repository of an app that a person takes in; a program of ours, sealed to that host',
      },
      { file: 'runners/vm/vmPlace.ts', why: 'hands the card of a run on to its VM' },
      { file: 'runners/vm/warmUp.ts', why: 'programs of ours in a VM that is being built, without network' },
    ],
  },
  { member: 'Ledger.answer', callers: [{ file: 'gate/gate.ts', why: 'an answer that a person gave' }] },
  { member: 'Ledger.give', callers: [{ file: 'gate/gate.ts', why: 'a grant that a person gave' }] },
  { member: 'Ledger.consume', callers: [{ file: 'gate/gate.ts', why: 'right before the effect' }] },
  {
    member: 'Ledger.start',
    callers: [
      { file: 'gate/gate.ts', why: 'right before the effect' },
      { file: 'gate/ledger.ts', why: 'consuming an approval starts its act in the same transaction' },
    ],
  },
  {
    member: 'Journal.change',
    callers: [
      { file: 'history/undo.ts', why: 'undo and redo, inside the gate' },
      { file: 'agent/tools/fileChanges.ts', why: 'the run of a prepared call' },
    ],
  },
  { member: 'Journal.record', callers: [] },
  {
    member: 'Journal.recordFolders',
    callers: [{ file: 'history/recordJob.ts', why: 'around a card that may write to shared folders' }],
  },
  {
    member: 'placeNew.ts#placeNew',
    callers: [
      { file: 'apps/writeBackup.ts', why: 'a backup, to a path that a person chose in a dialog' },
      { file: 'history/transaction.ts', why: 'a change by the journal, where nothing may stand' },
    ],
  },
  {
    member: 'net/exchange.ts#exchange',
    callers: [
      { file: 'agent/net/publicFetch.ts', why: 'web_fetch, to a public address that was checked' },
      {
        file: 'plugins/hostFunctions/pluginFetch.ts',
        why: 'fetch of a plugin, to a host that a person accepted for it',
      },
    ],
  },
  {
    member: 'agent/net/publicFetch.ts#fetchPublic',
    callers: [
      { file: 'agent/tools/netTools.ts', why: 'web_fetch, inside the gate' },
      {
        file: 'agent/shell/shellFetch.ts',
        why: 'the shell in memory, for hosts that its act named and a person allowed',
      },
    ],
  },
  {
    member: 'AskPerson.ask',
    callers: [
      {
        file: 'runners/places/askSshPerson.ts',
        why: 'questions of a host that a card’s accepted place names; the vault signs under its own grants alone',
      },
      {
        file: 'runners/slurm/openSlurmTransport.ts',
        why: 'partition, account and the like of a person’s own settings, for a cluster that a card’s accepted place names',
      },
    ],
  },
  {
    member: 'PersonSide.ask',
    callers: [
      {
        file: 'runners/worker/workerIdentity.ts',
        why: 'this computer’s name for workers, for places that a person has named in a card',
      },
      { file: 'agent/agentServices.ts', why: 'which editors have unsaved changes, for an undo' },
      { file: 'agent/startAgent.ts', why: 'the same, and the question of ask_person, inside the gate' },
      { file: 'agent/tools/vaultTools.ts', why: 'names and questions for the vault, inside the gate' },
      { file: 'vault/releaseValues.ts', why: 'the sealed values of a card that the run’s gate let through' },
      {
        file: 'vault/valueRequests.ts',
        why: 'which grants a plugin has for a host, and its request with the value, inside the gate',
      },
      { file: 'agent/providers/brokerFetch.ts', why: 'inside the provider act of loop/request.ts' },
      { file: 'agent/providers/vscodeModel.ts', why: 'inside the provider act of loop/request.ts' },
    ],
  },
];

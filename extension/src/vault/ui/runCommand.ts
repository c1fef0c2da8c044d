import { createHash } from 'node:crypto';
import { homedir } from 'node:os';
import { EventEmitter, ThemeIcon, window, workspace, type Pseudoterminal } from 'vscode';
import { canonicalJson } from '../../../../protocol/src/canonicalJson.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import { createScrubber, tooShort } from '../../../../protocol/src/scrub/scrubber.ts';
import { textStep } from '../../native/steps.ts';
import type { Notifier } from '../../notifier.ts';
import { plain } from '../../plainText.ts';
import type { Presence } from '../../presence/presence.ts';
import type { PresenceAct } from '../../presence/presenceAct.ts';
import type { Vault } from '../core/vaultContract.ts';
import type { ReleasedValues } from '../releasedValues.ts';
import { childEnvironment } from '../run/childEnvironment.ts';
import { personVariables } from '../run/environment.ts';
import { runWithValues } from '../run/runWithValues.ts';
import { vaultNotices } from './vaultNotices.ts';
import { runWords, vaultName } from './vaultWords.ts';

interface WantedValue {
  readonly vault: Vault;
  readonly item: string;
  readonly title: string;
  readonly field: string;
  readonly version: number;
}

export interface RunCommandParts {
  readonly person: Presence;
  readonly notifier: Notifier;
  readonly released: ReleasedValues;
}

/**
 * Runs one command in a terminal with chosen values in its environment. Its output comes without them, which stops
 * accidents only: the command has them. Values of the personal vault need presence for this command and these variables.
 */
export async function runCommand(vaults: readonly Vault[], parts: RunCommandParts): Promise<void> {
  const { person, notifier, released } = parts;
  if (!workspace.isTrusted) throw new UserError('not-trusted', 'Nothing runs in Restricted Mode');
  const wanted = await chooseValues(vaults);
  if (!wanted || wanted.length === 0) return;
  const named = await nameValues(wanted);
  const command = named && (await askCommand());
  if (!named || command === undefined) return;
  const personal = [...named].filter(([, { vault }]) => vault.kind === 'personal');
  if (personal.length > 0) {
    const proof = await person.prove(actOf(command, personal));
    if (!proof || !person.spend(proof, actOf(command, personal))) return;
  }
  const values = await unseal(named, notifier);
  if (!values) return;
  for (const value of values.values()) released.add(value);
  const terminal = window.createTerminal({
    name: runWords.terminal(),
    iconPath: new ThemeIcon('lock'),
    pty: terminalOf(command, values),
  });
  terminal.show();
}

async function chooseValues(vaults: readonly Vault[]): Promise<readonly WantedValue[] | undefined> {
  const lines = vaults.flatMap((vault) =>
    vault.list().flatMap(({ id, title, version, fields }) =>
      fields.map(({ name }) => ({
        label: `${plain(title)} · ${plain(name)}`,
        description: vaultName(vault.kind),
        value: { vault, item: id, title, field: name, version },
      })),
    ),
  );
  const chosen = await window.showQuickPick(lines, {
    title: runWords.title(),
    placeHolder: runWords.chooseValues(),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  return chosen?.map(({ value }) => value);
}

/** A variable for each value, in the order in which they were chosen. */
async function nameValues(wanted: readonly WantedValue[]): Promise<Map<string, WantedValue> | undefined> {
  const named = new Map<string, WantedValue>();
  for (const [at, value] of wanted.entries()) {
    const asked = await textStep({
      title: runWords.title(),
      step: at + 1,
      totalSteps: wanted.length,
      prompt: runWords.variable(`${value.title} · ${value.field}`),
      value: variableOf(value),
      check: (text) => variableProblem(text, named),
    });
    if (asked.kind !== 'value') return undefined;
    named.set(asked.value, value);
  }
  return named;
}

/** `ORDERS_PASSWORD`; the field alone would be `VALUE` for every token. */
export function variableOf({ item, field }: Pick<WantedValue, 'item' | 'field'>): string {
  const words = field === 'value' ? [item] : [item, field];
  return words.join('_').replaceAll('-', '_').toUpperCase();
}

function variableProblem(name: string, named: ReadonlyMap<string, unknown>): string | undefined {
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,127}$/.test(name)) return runWords.variableProblem();
  return named.has(name) ? runWords.variableTaken() : undefined;
}

async function askCommand(): Promise<string | undefined> {
  const asked = await textStep({
    title: runWords.title(),
    step: 1,
    totalSteps: 1,
    prompt: runWords.command(),
    check: (text) => (text.trim() === '' ? runWords.commandProblem() : undefined),
  });
  return asked.kind === 'value' ? asked.value : undefined;
}

/** Bound to the command and to every variable with the version that it holds. */
function actOf(command: string, named: readonly (readonly [string, WantedValue])[]): PresenceAct {
  const bound = canonicalJson({
    command,
    values: named.map(([name, { vault, item, field, version }]) => ({
      name,
      vault: vault.id,
      item,
      field,
      version,
    })),
  });
  return {
    name: 'approveGrant',
    grantId: 'command',
    digest: createHash('sha256').update(bound).digest('hex'),
    sentence: runWords.sentence(
      command,
      named.map(([name, { title, field }]) => `${name} (${title} · ${field})`),
    ),
  };
}

/** Undefined, after words, where a value can't be kept out of the output. The log's lines come before any value. */
async function unseal(
  named: ReadonlyMap<string, WantedValue>,
  notifier: Notifier,
): Promise<Map<string, string> | undefined> {
  const values = new Map<string, string>();
  for (const [name, { vault, item, field, version, title }] of named) {
    using secret = await vault.open(item, field, version);
    const value = secret.use((bytes) => bytes.toString('utf8'));
    if (tooShort([value]).length > 0 || value.includes('\0')) {
      notifier.show(vaultNotices.failed(runWords.unfit(`${title} · ${field}`)));
      return undefined;
    }
    values.set(name, value);
  }
  for (const { vault, item, field } of named.values())
    await vault.note([{ grant: '', principal: 'command', item, field, host: '' }]);
  return values;
}

function terminalOf(command: string, values: ReadonlyMap<string, string>): Pseudoterminal {
  const written = new EventEmitter<string>();
  const closed = new EventEmitter<number>();
  const decoder = new TextDecoder();
  const output = {
    write: (bytes: Uint8Array | string): boolean => {
      const text = typeof bytes === 'string' ? bytes : decoder.decode(bytes, { stream: true });
      written.fire(text.replace(/\r?\n/g, '\r\n'));
      return true;
    },
  };
  let stop: ((signal: NodeJS.Signals) => void) | undefined;
  const run = async (): Promise<void> => {
    output.write(`${runWords.accidentsOnly()}\n\n$ ${plain(command)}\n`);
    const code = await runWithValues({
      command:
        process.platform === 'win32' ? ['cmd.exe', '/d', '/s', '/c', command] : ['/bin/sh', '-c', command],
      environment: childEnvironment(personVariables(), [], values),
      folder: workspace.workspaceFolders?.find(({ uri }) => uri.scheme === 'file')?.uri.fsPath ?? homedir(),
      scrubber: createScrubber([...values.values()]),
      output,
      errors: output,
      input: 'ignore',
      platform: process.platform,
      onSignal: (listener) => {
        stop = listener;
        return () => (stop = undefined);
      },
    });
    output.write(`\n${runWords.ended(code)}\n`);
  };
  return {
    onDidWrite: written.event,
    onDidClose: closed.event,
    open: () => void run().catch(() => closed.fire(1)),
    close: () => stop?.('SIGTERM'),
    handleInput: (data) => {
      if (data === '\u0003') stop?.('SIGINT');
    },
  };
}

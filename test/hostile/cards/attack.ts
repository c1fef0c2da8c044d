import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import * as z from 'zod/mini';
import { treeEntry } from '../../../protocol/src/artifacts.ts';
import { portType } from '../../../protocol/src/manifests.ts';

export const fixtures = path.resolve(import.meta.dirname, '../../../test-fixtures/hostile');

/** What the harness itself can see of an attack that worked; `route` is what the card reported. */
export const proofKinds = [
  /** The card said that one of its routes led somewhere. */
  'route',
  /** A secret from outside stands in the log or in an output. */
  'canary',
  /** Something arrived at a listener of the test. */
  'contact',
  /** The process that stands for the rest of the machine is gone. */
  'victim',
  /** A file or folder that is not the card's changed, appeared or went. */
  'changed',
  /** A process of the card runs on after its end. */
  'survivor',
  /** An output that is marked as hostile was taken. */
  'accepted',
  /** More log was kept than the limit allows. */
  'log',
  /** The card's text was heard as a message of the runner. */
  'forged',
  /** The terminal of the test received input. */
  'terminal',
  /** The runner ended, or failed to start the job without saying why. */
  'runner',
  /** A stored result no longer has the bytes of its name. */
  'blob',
  /** Something of the job lies in the scratch folder after its end. */
  'left-behind',
] as const;
const proof = z.enum(proofKinds);
export type Proof = z.infer<typeof proof>;

const text = z.string().check(z.minLength(1));

/** Every field that is given must be equal in the outcome that the runner reports. */
const expectedOutcome = z.strictObject({
  kind: z.enum(['exited', 'signalled', 'timeout', 'limit', 'cancelled', 'refused', 'unknown']),
  exitCode: z.optional(z.int()),
  signal: z.optional(text),
  limit: z.optional(z.enum(['memory', 'processes', 'output'])),
  code: z.optional(z.enum(['bad-input', 'unsafe-path', 'isolation-missing', 'interpreter-missing'])),
});
export type ExpectedOutcome = z.infer<typeof expectedOutcome>;

/**
 * One attack: `attack.json` beside the card's own files. Strings in `entry`, `params`, `inputs`, `access` and
 * `codeEntries` may name lures as `${name}` (see `Lures`).
 */
const attackFile = z.strictObject({
  title: text,
  /** Ids of `publicCases` that this is a test of. */
  cases: z.array(text),
  runtime: z.enum(['python', 'node', 'shell', 'command']),
  entry: z.union([text, z.array(z.string())]),
  /** Entries of the same folder that are run to their end before, each as a job of its own. */
  before: z.optional(z.array(text)),
  /** How often `entry` is run after that; a route must be closed each time. */
  times: z.optional(z.int()),
  inputs: z.optional(z.record(z.string(), z.strictObject({ type: portType, text: z.string() }))),
  outputs: z.optional(
    z.record(
      z.string(),
      z.strictObject({
        type: portType,
        optional: z.optional(z.boolean()),
        /** Must not be taken. */
        hostile: z.optional(z.boolean()),
      }),
    ),
  ),
  limits: z.optional(
    z.strictObject({
      seconds: z.optional(z.int()),
      memoryMB: z.optional(z.int()),
      processes: z.optional(z.int()),
      outputMB: z.optional(z.int()),
      logMB: z.optional(z.int()),
    }),
  ),
  hosts: z.optional(z.array(text)),
  hostFolders: z.optional(z.array(z.strictObject({ path: text, name: text, write: z.boolean() }))),
  network: z.optional(z.literal('all')),
  /** The card asked for its project's folder, and a person allowed it. */
  showsProject: z.optional(z.boolean()),
  params: z.optional(z.record(z.string(), z.json())),
  /** Replaces the whole text of the parameters with this many bytes of JSON. */
  paramsBytes: z.optional(z.int()),
  jobId: z.optional(text),
  /** Entries that are added to the listing of the card's folder as they stand. */
  codeEntries: z.optional(z.array(treeEntry)),
  /** Another card is running beside, with secrets in all of its own places. */
  neighbour: z.optional(z.boolean()),
  /** The runner has a terminal. */
  terminal: z.optional(z.boolean()),
  /** Cancelled as soon as this stands in its log. */
  cancelAt: z.optional(text),
  /** The control hands its words to a shell, as a careless runner would. */
  throughShell: z.optional(z.boolean()),
  /** The control needs rights that only root has, so it is left out for anybody else. */
  control: z.optional(z.literal('root')),
  /** What the card tries, by the name it reports; the value says why the control may fail there, or is `''`. */
  routes: z.record(z.string(), z.string()),
  /** What the harness must see in the control, besides the routes. */
  proofs: z.optional(z.array(proof)),
  sealed: z.strictObject({
    outcome: z.array(expectedOutcome).check(z.minLength(1)),
    /** By port: the problems of which one must be reported. */
    problems: z.optional(z.record(z.string(), z.array(text))),
    /** Log must have been left out. */
    logCut: z.optional(z.boolean()),
    /** Hosts that must stand as refused in the egress log. */
    refusedHosts: z.optional(z.array(text)),
  }),
});
export type Attack = z.infer<typeof attackFile> & { readonly name: string; readonly folder: string };

/**
 * All attacks of a folder of fixtures in the order of their names: those by a card anywhere, or on what places keep.
 * Throws where the folder is empty or a description is not one.
 */
export function readAttacks(of: 'cards' | 'places' = 'cards'): Attack[] {
  const folder = path.join(fixtures, of);
  const names = readdirSync(folder).sort();
  if (names.length === 0) throw new Error(`There are no attacks in ${folder}`);
  return names.map((name) => readAttack(path.join(folder, name), name));
}

function readAttack(folder: string, name: string): Attack {
  const parsed = z.safeParse(attackFile, JSON.parse(readFileSync(path.join(folder, 'attack.json'), 'utf8')));
  if (!parsed.success) throw new Error(`${name}/attack.json: ${z.prettifyError(parsed.error)}`);
  const attack = parsed.data;
  if (Object.keys(attack.routes).length === 0 && !attack.proofs?.length)
    throw new Error(`${name}/attack.json: says of nothing how it would be seen to work`);
  return { ...attack, name, folder };
}

/** Puts values in place of `${name}` in every string of a JSON value. An unknown name is an error. */
export function fillIn<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') {
    return value.replaceAll(/\$\{([a-zA-Z0-9]+)\}/g, (_, name: string) => {
      const found = values[name];
      if (found === undefined) throw new Error(`There is no lure ${name}`);
      return found;
    }) as T;
  }
  if (Array.isArray(value)) return value.map((each: unknown) => fillIn(each, values)) as T;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, fillIn(each, values)])) as T;
  }
  return value;
}

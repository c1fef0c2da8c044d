import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import * as z from 'zod/mini';
import { grantKind, principal } from '../../../protocol/src/gate.ts';

/** Where the cases lie: a folder for each, named by the row of public failures that it answers. */
export const caseFolder = resolve(import.meta.dirname, '../../../test-fixtures/hostile/agent');

const text = z.string().check(z.minLength(1));
/** A file by its text, a link by where it leads, or a text so many times. `null` takes it away. */
const planted = z.union([
  z.string(),
  z.strictObject({ link: text }),
  z.strictObject({ repeat: text, times: z.int() }),
  z.null(),
]);
const files = z.record(text, planted);

/** What has to come of one call. */
const ending = z.strictObject({
  /** The rule by which a person is asked; absent where nobody is asked. */
  asks: z.optional(text),
  state: z.enum(['done', 'failed', 'refused', 'unknown']),
  /** Of a refusal. */
  code: z.optional(
    z.enum(['denied', 'declined', 'expired', 'changed', 'conflict', 'cancelled', 'check-failed']),
  ),
  /** Stands in what the person is shown: title, lines, whole text or resolved targets. */
  shows: z.optional(z.array(text)),
  /** Hidden characters were found and are shown escaped. */
  isFlagged: z.optional(z.boolean()),
  /** There is a whole text that has to be opened before anything can be allowed. */
  mustBeRead: z.optional(z.boolean()),
  /** Stands in what the model is told. */
  tells: z.optional(z.array(text)),
  /** Does not. */
  hides: z.optional(z.array(text)),
});

const call = z.strictObject({
  tool: text,
  /** As JSON, or as the very text that the model wrote. */
  args: z.union([z.record(z.string(), z.json()), z.string()]),
  /** By default `agent`. */
  principal: z.optional(principal),
  /** By default one of its own; the same again is a replay. */
  opId: z.optional(text),
  conversation: z.optional(text),
  /** What the person answers; absent: nobody does, and the time runs out. */
  person: z.optional(z.enum(['allow-once', 'decline'])),
  /** What becomes of files while the question waits. */
  meanwhile: z.optional(files),
  must: ending,
});
export type Call = z.infer<typeof call>;
export type Ending = z.infer<typeof ending>;

/**
 * One attack: `case.json`. Strings may hold `${project}`, `${outside}` (a folder beside the project), `${port}` (a
 * listener on loopback), `${secret}` (a text that lies outside) and `${repeat 3 text}`.
 */
const caseFile = z.strictObject({
  title: text,
  /** Files of the project, beside those of the fixture's own folder `project/`. */
  files: z.optional(files),
  outside: z.optional(files),
  /** By default trusted, in act mode, with every grant that a person can give: the loosest that there is. */
  isTrusted: z.optional(z.boolean()),
  mode: z.optional(z.enum(['plan', 'act'])),
  grants: z.optional(z.array(grantKind)),
  /** The person lets `shell` reach the public internet. */
  hasInternet: z.optional(z.boolean()),
  calls: z.array(call).check(z.minLength(1)),
  must: z.strictObject({
    /** Every path that is another one afterwards, below `project/` or `outside/`, and no further one. */
    changed: z.array(text),
  }),
  /** The same calls where the protection is not: what then shows that the attack is one. */
  control: z.strictObject({
    /**
     * `allowed`: through the gate, with a yes to every question. `ungated`: the tool itself, without the gate.
     * `naive`: done in the way of a tool that checks nothing.
     */
    how: z.enum(['allowed', 'ungated', 'naive']),
    /** Which of the calls it makes, by number from 0; absent for all. */
    calls: z.optional(z.array(z.int())),
    changed: z.optional(z.array(text)),
    /** Something arrived at the listener. */
    contact: z.optional(z.literal(true)),
    /** Stands in what the model is told. */
    tells: z.optional(z.array(text)),
  }),
});
export type Case = z.infer<typeof caseFile> & {
  readonly id: string;
  readonly row: string;
  readonly folder: string;
};

/** All cases in the order of their names. Throws where a description is not one. */
export function readCases(): Case[] {
  return readdirSync(caseFolder)
    .filter((id) => existsSync(join(caseFolder, id, 'case.json')))
    .sort()
    .map((id) => {
      const folder = join(caseFolder, id);
      const parsed = z.safeParse(caseFile, JSON.parse(readFileSync(join(folder, 'case.json'), 'utf8')));
      if (!parsed.success) throw new Error(`${id}/case.json: ${z.prettifyError(parsed.error)}`);
      const { control } = parsed.data;
      if (!control.changed?.length && !control.contact && !control.tells?.length)
        throw new Error(`${id}/case.json: its control shows nothing`);
      return { ...parsed.data, id, row: id.split('-')[0] ?? '', folder };
    });
}

/** Puts values in place of `${name}` in every string of a JSON value, names of properties included. */
export function fillIn<T>(value: T, values: Readonly<Record<string, string>>): T {
  if (typeof value === 'string') {
    return value
      .replaceAll(/\$\{repeat (\d+) ([^}]*)\}/g, (_, times: string, text: string) =>
        text.repeat(Number(times)),
      )
      .replaceAll(/\$\{([a-z]+)\}/g, (whole, name: string) => values[name] ?? whole) as T;
  }
  if (Array.isArray(value)) return value.map((each: unknown) => fillIn(each, values)) as T;
  if (typeof value === 'object' && value !== null) {
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [fillIn(key, values), fillIn(each, values)]),
    ) as T;
  }
  return value;
}

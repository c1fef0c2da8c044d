import * as z from 'zod/mini';
import { maximumCardLimits } from './limits.ts';

/**
 * The file formats, version 1 (docs/formats.md). This file is their only definition: types are inferred from it and
 * the JSON schemas under extension/schemas/ are generated from it (`scripts/schemas.mjs`).
 */

export const idPattern = /^[a-z][a-z0-9-]{0,63}$/;
/** `card/port`, the source of a wire. */
export const wirePattern = /^[a-z][a-z0-9-]{0,63}\/[a-z][a-z0-9-]{0,63}$/;
/** A host name or IP literal in lower case, with an optional leading `*.` label and an optional port. */
export const hostPattern =
  /^(\*\.)?([a-z0-9_]([a-z0-9_-]{0,62})\.)*[a-z0-9_]([a-z0-9_-]{0,62})(:[0-9]{1,5})?$|^\[[0-9a-f:.]+\](:[0-9]{1,5})?$/;
/** A name of an environment variable. */
export const environmentNamePattern = /^[A-Z_][A-Z0-9_]{0,127}$/;
/** `local`, or the kind of a service and what it names: `ssh:lab`. */
export const executionServicePattern = /^[a-z][a-z0-9-]{0,63}(:[^\s]{1,255})?$/;

const id = z.string().check(z.regex(idPattern));

/** The most entries of one list: what a person reviews and what is looked up stays within sight. */
const longestList = 100;
/** A list of at most `longestList`. */
const list = <T extends z.ZodMiniType>(item: T) => z.array(item).check(z.maxLength(longestList));

/** Gives a schema the text that hovers, completion and the generated JSON schemas show. */
function about<T extends z.ZodMiniType>(description: string, schema: T): T {
  z.globalRegistry.add(schema, { description });
  return schema;
}

export const portTypes = [
  'json',
  'text',
  'table',
  'file',
  'directory',
  'image',
  'html',
  'vega-lite',
  'plotly',
] as const;
export const portType = z.enum(portTypes);
export type PortType = z.infer<typeof portType>;

export const runtimes = ['js', 'python', 'node', 'shell', 'command'] as const;
export const runtime = z.enum(runtimes);
export type Runtime = z.infer<typeof runtime>;

const described = {
  description: about(
    'A sentence for people who read this card.',
    z.optional(z.string().check(z.maxLength(2000))),
  ),
};
const typeOfPort = about(
  'What passes through this port. A wire joins equal types or a listed widening.',
  portType,
);

const inputPort = z.strictObject({
  type: typeOfPort,
  from: about(
    'The output that feeds this input, written `card/port`.',
    z.optional(z.string().check(z.regex(wirePattern))),
  ),
  optional: about('True where the card also runs without this input.', z.optional(z.boolean())),
  ...described,
});
const outputPort = z.strictObject({
  type: typeOfPort,
  optional: about('True where the card may finish without writing this output.', z.optional(z.boolean())),
  ...described,
});

const value = <T extends z.ZodMiniType>(schema: T) => about('The value where a run names none.', schema);
const least = <T extends z.ZodMiniType>(schema: T) =>
  about('The smallest value allowed.', z.optional(schema));
const greatest = <T extends z.ZodMiniType>(schema: T) =>
  about('The largest value allowed.', z.optional(schema));
const typeOfParameter = <T extends string>(name: T) =>
  about('`integer`, `number`, `string`, `boolean` or `choice`.', z.literal(name));

const parameter = z.discriminatedUnion('type', [
  z.strictObject({
    type: typeOfParameter('integer'),
    default: value(z.int()),
    minimum: least(z.int()),
    maximum: greatest(z.int()),
    ...described,
  }),
  z.strictObject({
    type: typeOfParameter('number'),
    default: value(z.number()),
    minimum: least(z.number()),
    maximum: greatest(z.number()),
    ...described,
  }),
  z.strictObject({
    type: typeOfParameter('string'),
    default: value(z.string()),
    maxLength: about('The largest number of characters allowed.', z.optional(z.int().check(z.nonnegative()))),
    ...described,
  }),
  z.strictObject({ type: typeOfParameter('boolean'), default: value(z.boolean()), ...described }),
  z.strictObject({
    type: typeOfParameter('choice'),
    default: value(z.string()),
    choices: about('The values allowed.', z.array(z.string()).check(z.minLength(1))),
    ...described,
  }),
]);
export type Parameter = z.infer<typeof parameter>;

const bounded = (description: string, maximum: number) =>
  about(description, z.optional(z.int().check(z.positive(), z.maximum(maximum))));

const cardLimits = z.strictObject({
  seconds: bounded('Wall time of the card, in seconds.', maximumCardLimits.seconds),
  memoryMB: bounded('Memory of all its processes together, in MB.', maximumCardLimits.memoryMB),
  processes: bounded('Processes and threads at one time.', maximumCardLimits.processes),
  outputMB: bounded('Size of all outputs together, in MB.', maximumCardLimits.outputMB),
  logMB: bounded('Size of the log that is kept, in MB.', maximumCardLimits.logMB),
});

const hostFolder = z.strictObject({
  path: about(
    'A folder of this computer, absolute or beginning with `~/`.',
    z.string().check(z.minLength(1), z.maxLength(4096)),
  ),
  name: about('The card sees the folder as `/host/NAME`.', id.check()),
  write: about('True where the card may change the folder.', z.optional(z.boolean())),
});

const vaultUse = z.strictObject({
  item: about('The id of the vault item.', id.check()),
  field: about('The field of the item.', id.check()),
  env: about(
    'The environment variable that holds the value, in upper case.',
    z.string().check(z.regex(environmentNamePattern)),
  ),
});

const cardPermissions = z.strictObject({
  network: about(
    'Hosts that the card may reach through the egress proxy, such as `api.example.org:443`. `true` is the whole network; absent is none.',
    z.optional(z.union([z.boolean(), list(z.string().check(z.regex(hostPattern)))])),
  ),
  sandbox: about(
    '`false` shows the card the project’s own files and shared folders. Its other walls stay.',
    z.optional(z.boolean()),
  ),
  hostFolders: about('Folders of this computer that the card may see.', z.optional(list(hostFolder))),
  environmentSources: about(
    'Environment sources of `sallyport.json` that the card uses, by id.',
    z.optional(list(id)),
  ),
  executionService: about(
    'Where the card runs. `local` is this computer.',
    z.optional(z.string().check(z.regex(executionServicePattern))),
  ),
  vault: about('Vault values that the card gets as environment variables.', z.optional(list(vaultUse))),
});
export type CardPermissions = z.infer<typeof cardPermissions>;

const ports = <T extends z.ZodMiniType>(port: T) => z.record(id, port);

const schemaReference = about(
  'The JSON schema that an editor checks this file with.',
  z.optional(z.string()),
);
const formatVersion = about('The version of this file format.', z.literal(1));

export const cardManifest = z.strictObject({
  $schema: schemaReference,
  version: formatVersion,
  title: about('The name that people see.', z.string().check(z.minLength(1), z.maxLength(200))),
  description: about('What the card does, for people.', z.optional(z.string().check(z.maxLength(4000)))),
  runtime: about('What runs the entry.', runtime),
  /** A file of the card's folder; for `command` the argument list, program first. */
  entry: about(
    'The file of this folder that is run. For `command` the argument list, program first.',
    z.union([z.string().check(z.minLength(1)), z.array(z.string()).check(z.minLength(1))]),
  ),
  inputs: about('Input ports by id. The card reads `$SALLYPORT_INPUTS/PORT`.', z.optional(ports(inputPort))),
  outputs: about(
    'Output ports by id. The card writes `$SALLYPORT_OUTPUTS/PORT`.',
    z.optional(ports(outputPort)),
  ),
  params: about(
    'Parameters by id. The card reads them from `$SALLYPORT_PARAMS`.',
    z.optional(z.record(id, parameter)),
  ),
  limits: about('What the card may use at most. Absent ones have defaults.', z.optional(cardLimits)),
  permissions: about(
    'What the card may reach beyond its inputs. Each one waits for a person’s review before the card runs.',
    z.optional(cardPermissions),
  ),
  view: about(
    'What is shown of the card.',
    z.optional(z.strictObject({ output: about('The id of the output that is shown.', id.check()) })),
  ),
});
export type CardManifest = z.infer<typeof cardManifest>;

const pathPattern = z.string().check(z.minLength(1), z.maxLength(1024));

export const projectManifest = z.strictObject({
  $schema: schemaReference,
  version: formatVersion,
  name: about('The name that people see.', z.string().check(z.minLength(1), z.maxLength(200))),
  description: about('What the project is for.', z.optional(z.string().check(z.maxLength(4000)))),
  /** Folders of cards: relative paths whose last component may be `*`. */
  cards: about(
    'Folders of cards, relative to this file. The last part may be `*`: `cards/*`.',
    list(pathPattern),
  ),
  apps: about('Folders of apps, relative to this file: `apps/*`.', z.optional(list(pathPattern))),
  environmentSources: about(
    'Files that describe what cards may be given beyond the default, by id.',
    z.optional(z.record(id, z.strictObject({ file: about('A file of this project.', pathPattern.check()) }))),
  ),
});
export type ProjectManifest = z.infer<typeof projectManifest>;

/** Types that a wire may join besides equal ones: from → to. */
export const wireWidenings: readonly (readonly [PortType, PortType])[] = [
  ['table', 'file'],
  ['json', 'file'],
  ['text', 'file'],
  ['image', 'file'],
  ['html', 'file'],
  ['vega-lite', 'json'],
  ['plotly', 'json'],
  ['vega-lite', 'file'],
  ['plotly', 'file'],
];

/** True where an output of type `from` may feed an input of type `to`. */
export function canWire(from: PortType, to: PortType): boolean {
  return from === to || wireWidenings.some(([a, b]) => a === from && b === to);
}

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
const environmentNamePattern = /^[A-Z_][A-Z0-9_]{0,127}$/;

const id = z.string().check(z.regex(idPattern));

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

const described = { description: z.optional(z.string().check(z.maxLength(2000))) };

const inputPort = z.strictObject({
  type: portType,
  from: z.optional(z.string().check(z.regex(wirePattern))),
  optional: z.optional(z.boolean()),
  ...described,
});
const outputPort = z.strictObject({ type: portType, optional: z.optional(z.boolean()), ...described });

const parameter = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('integer'),
    default: z.int(),
    minimum: z.optional(z.int()),
    maximum: z.optional(z.int()),
    ...described,
  }),
  z.strictObject({
    type: z.literal('number'),
    default: z.number(),
    minimum: z.optional(z.number()),
    maximum: z.optional(z.number()),
    ...described,
  }),
  z.strictObject({
    type: z.literal('string'),
    default: z.string(),
    maxLength: z.optional(z.int().check(z.nonnegative())),
    ...described,
  }),
  z.strictObject({ type: z.literal('boolean'), default: z.boolean(), ...described }),
  z.strictObject({
    type: z.literal('choice'),
    default: z.string(),
    choices: z.array(z.string()).check(z.minLength(1)),
    ...described,
  }),
]);
export type Parameter = z.infer<typeof parameter>;

const bounded = (maximum: number) => z.optional(z.int().check(z.positive(), z.maximum(maximum)));

const cardLimits = z.strictObject({
  seconds: bounded(maximumCardLimits.seconds),
  memoryMB: bounded(maximumCardLimits.memoryMB),
  processes: bounded(maximumCardLimits.processes),
  outputMB: bounded(maximumCardLimits.outputMB),
  logMB: bounded(maximumCardLimits.logMB),
});

const hostFolder = z.strictObject({
  path: z.string().check(z.minLength(1), z.maxLength(4096)),
  name: id,
  write: z.optional(z.boolean()),
});

const vaultUse = z.strictObject({
  item: id,
  field: id,
  env: z.string().check(z.regex(environmentNamePattern)),
});

const cardPermissions = z.strictObject({
  network: z.optional(z.union([z.boolean(), z.array(z.string().check(z.regex(hostPattern)))])),
  sandbox: z.optional(z.boolean()),
  hostFolders: z.optional(z.array(hostFolder)),
  environmentSources: z.optional(z.array(id)),
  executionService: z.optional(z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}(:[^\s]{1,255})?$/))),
  vault: z.optional(z.array(vaultUse)),
});
export type CardPermissions = z.infer<typeof cardPermissions>;

const ports = <T extends z.ZodMiniType>(port: T) => z.record(id, port);

export const cardManifest = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.literal(1),
  title: z.string().check(z.minLength(1), z.maxLength(200)),
  description: z.optional(z.string().check(z.maxLength(4000))),
  runtime,
  /** A file of the card's folder; for `command` the argument list, program first. */
  entry: z.union([z.string().check(z.minLength(1)), z.array(z.string()).check(z.minLength(1))]),
  inputs: z.optional(ports(inputPort)),
  outputs: z.optional(ports(outputPort)),
  params: z.optional(z.record(id, parameter)),
  limits: z.optional(cardLimits),
  permissions: z.optional(cardPermissions),
  view: z.optional(z.strictObject({ output: id })),
});
export type CardManifest = z.infer<typeof cardManifest>;

const pathPattern = z.string().check(z.minLength(1), z.maxLength(1024));

export const projectManifest = z.strictObject({
  $schema: z.optional(z.string()),
  version: z.literal(1),
  name: z.string().check(z.minLength(1), z.maxLength(200)),
  description: z.optional(z.string().check(z.maxLength(4000))),
  /** Folders of cards: relative paths whose last component may be `*`. */
  cards: z.array(pathPattern),
  apps: z.optional(z.array(pathPattern)),
  environmentSources: z.optional(z.record(id, z.strictObject({ file: pathPattern }))),
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

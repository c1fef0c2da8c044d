import * as z from 'zod/mini';
import { about } from './about.ts';
import { functionSchema } from './functionSchema.ts';
import { maximumAppLimits, maximumCardLimits } from './limits.ts';
import {
  headerNamePattern,
  headerPrefixPattern,
  isFramingHeader,
  queryNamePattern,
  userNamePattern,
} from './vaultUse.ts';

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

const vaultHosts = about(
  'The hosts that the value may go to, each whole: `api.example.org` or `api.example.org:8443`. Each is in `network` too.',
  z
    .array(
      z.string().check(
        z.regex(hostPattern),
        z.refine((host) => !host.startsWith('*')),
      ),
    )
    .check(z.minLength(1), z.maxLength(longestList)),
);
const variable = (description: string) =>
  about(description, z.string().check(z.regex(environmentNamePattern)));
const kindOfUse = <T extends string>(name: T) =>
  about('`header`, `basic` or `query`; a card also `env` or `fd`.', z.literal(name));

/** Uses that are put into requests outside of the sandbox: who asks never has the value. */
const requestUses = [
  z.strictObject({
    type: kindOfUse('header'),
    hosts: vaultHosts,
    name: about(
      'The header that carries the value, such as `authorization`.',
      z.string().check(
        z.regex(headerNamePattern),
        z.refine((name) => !isFramingHeader(name)),
      ),
      { example: 'authorization' },
    ),
    prefix: about(
      'What stands before the value in the header, such as `Bearer `.',
      z.optional(z.string().check(z.regex(headerPrefixPattern))),
      { example: 'Bearer ' },
    ),
  }),
  z.strictObject({
    type: kindOfUse('basic'),
    hosts: vaultHosts.check(),
    user: about(
      'The user name that goes with the value as its password.',
      z.optional(z.string().check(z.regex(userNamePattern))),
    ),
  }),
  z.strictObject({
    type: kindOfUse('query'),
    hosts: vaultHosts.check(),
    name: about('The name that the value has in the address.', z.string().check(z.regex(queryNamePattern)), {
      example: 'key',
    }),
  }),
] as const;

const vaultUse = z.discriminatedUnion('type', [
  ...requestUses,
  z.strictObject({
    type: kindOfUse('env'),
    name: variable('The environment variable that holds the value, in upper case.'),
  }),
  z.strictObject({
    type: kindOfUse('fd'),
    name: variable('The environment variable that holds the number of the descriptor, in upper case.'),
  }),
]);

const vaultWish = z
  .strictObject({
    item: about('The id of the vault item.', id.check()),
    field: about('The field of the item.', id.check()),
    env: z.optional(
      variable('The environment variable that holds the value, in upper case. Short for `use`.'),
    ),
    use: about(
      'How the value is used. All but `env` and `fd` never show it to the card.',
      z.optional(vaultUse),
    ),
  })
  .check(z.refine((wish) => (wish.env === undefined) !== (wish.use === undefined)));

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
  vault: about('Vault values that the card uses, each after a person’s grant.', z.optional(list(vaultWish))),
});

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
  apps: about(
    'Folders of apps that are written here, relative to this file: `apps/*`. Help in their manifests; none is installed by itself.',
    z.optional(list(pathPattern)),
  ),
  environmentSources: about(
    'Files that describe what cards may be given beyond the default, by id.',
    z.optional(z.record(id, z.strictObject({ file: about('A file of this project.', pathPattern.check()) }))),
  ),
});
export type ProjectManifest = z.infer<typeof projectManifest>;

/** What a model can be asked to make. */
export const generateKinds = ['text', 'image', 'speech', 'embedding'] as const;
export const generateKind = about(undefined, z.enum(generateKinds), {
  meanings: {
    text: 'Text, as an answer to messages.',
    image: 'A picture, from a description.',
    speech: 'Spoken text.',
    embedding: 'Vectors, by which texts are compared.',
  },
});
export type GenerateKind = z.infer<typeof generateKind>;

/** Three numbers and an optional pre-release: the part of semver.org 2.0.0 that is needed to tell newer from older. */
export const appVersionPattern = /^[0-9]{1,9}\.[0-9]{1,9}\.[0-9]{1,9}(-[0-9A-Za-z.-]{1,64})?$/;
/** A file below the manifest's folder: components of letters, digits and `._-` that do not begin with a dot. */
const below = '([A-Za-z0-9_-][A-Za-z0-9._-]{0,99}/){0,15}[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}';
export const pagePattern = new RegExp(`^${below}\\.html$`);
export const modulePattern = new RegExp(`^${below}\\.m?js$`);
/** The name under which a plugin's entry exports a function. */
export const functionNamePattern = /^[a-z][A-Za-z0-9]{0,63}$/;

const generates = about(
  'What connected models are asked for. Keys stay with Sallyport.',
  z.optional(list(generateKind)),
);
const title = about('The name that people see.', z.string().check(z.minLength(1), z.maxLength(200)));

/** `apps/ID/app.json`. */
export const appManifest = z.strictObject({
  $schema: schemaReference,
  version: formatVersion,
  id: about('The id of the app, which is the name of its folder.', id.check(), { example: 'my-app' }),
  name: title,
  description: about('What the app does, for people.', z.optional(z.string().check(z.maxLength(4000)))),
  appVersion: about(
    'The version of the app: `1.2.0`. An update has a higher one.',
    z.string().check(z.regex(appVersionPattern)),
    { example: '0.1.0' },
  ),
  entry: about('The page of the app, a file of this folder.', z.string().check(z.regex(pagePattern)), {
    example: 'index.html',
  }),
  permissions: about(
    'What the app may do beyond showing itself. A person reviews it before the app is installed.',
    z.optional(
      z.strictObject({
        generate: generates,
        storageMB: about(
          'The most that the app and its plugins store, in MB. Absent is no storage for the page.',
          z.optional(z.int().check(z.positive(), z.maximum(maximumAppLimits.storageMB))),
          { example: 16 },
        ),
        models: about('True where the app may see which models are connected.', z.optional(z.boolean())),
        results: about(
          'True where the app may read the results of the latest run of each open project.',
          z.optional(z.boolean()),
        ),
      }),
    ),
  ),
  plugins: about('The ids of the plugins, each in a folder `plugins/ID`.', z.optional(list(id))),
});
export type AppManifest = z.infer<typeof appManifest>;

/** What a plugin would like: it names no value of the vault, since only the person knows which of theirs is meant. */
const pluginWish = z.strictObject({
  item: about(
    'What the value belongs to, as an id such as `example-notes`. The person chooses which value of their vault is meant.',
    id.check(),
    { example: 'example-notes' },
  ),
  field: about('Which value of it, such as `token` or `password`.', id.check(), { example: 'token' }),
  use: about(
    'How the value goes into requests, and to which hosts. The plugin itself never has it.',
    z.discriminatedUnion('type', requestUses),
  ),
});

/** A person is asked about each of them. */
const mostWishes = 8;

const pluginFunction = z.strictObject({
  description: about('What the function does, for people.', z.optional(z.string().check(z.maxLength(2000)))),
  input: about('What the function takes: a JSON schema (docs/plugins.md). `{}` is anything.', functionSchema),
  output: about('What the function gives: a JSON schema. `{}` is anything.', functionSchema.check()),
});

/** `apps/ID/plugins/ID/plugin.json`. */
export const pluginManifest = z.strictObject({
  $schema: schemaReference,
  version: formatVersion,
  id: about('The id of the plugin, which is the name of its folder.', id.check(), { example: 'my-plugin' }),
  description: about('What the plugin does, for people.', z.optional(z.string().check(z.maxLength(4000)))),
  entry: about(
    'The module that exports the functions, a file of this folder.',
    z.string().check(z.regex(modulePattern)),
    { example: 'index.js' },
  ),
  permissions: about(
    'What the plugin may reach. A person reviews it before the app is installed.',
    z.optional(
      z.strictObject({
        network: about(
          'Hosts that the plugin may reach, such as `api.example.org`.',
          z.optional(list(z.string().check(z.regex(hostPattern)))),
        ),
        storage: about('True where the plugin uses the storage of its app.', z.optional(z.boolean())),
        generate: generates.check(),
        vault: about(
          'Values that the plugin would like its requests to carry. A person is asked for each, and chooses one of their vault or none.',
          z.optional(z.array(pluginWish).check(z.maxLength(mostWishes))),
        ),
      }),
    ),
  ),
  functions: about(
    'The functions that the app can call, by the name under which the entry exports them.',
    z.record(z.string().check(z.regex(functionNamePattern)), pluginFunction).check(
      z.refine((functions) => Object.keys(functions).length <= longestList, {
        error: `A plugin has at most ${longestList} functions`,
      }),
    ),
  ),
});
export type PluginManifest = z.infer<typeof pluginManifest>;

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

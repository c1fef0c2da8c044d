/**
 * Every sentence that the engine shows about a manifest: what is wrong, the value, what to do. One function for each
 * problem code; `shown` makes a value from a file safe to print.
 */

const longestShown = 80;

/** A value of a file, quoted, cut, and with control, invisible and bidirectional characters escaped. */
export function shown(value: string): string {
  const cut = value.length > longestShown ? `${value.slice(0, longestShown)}…` : value;
  return `“${cut.replace(unsafeCharacters, escapeCharacter)}”`;
}

const unsafeCharacters = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Co}\u115f\u1160\u2800\u3164\uffa0]/gu;

function escapeCharacter(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}

/** `a, b or c`. */
export function listed(values: readonly string[]): string {
  const last = values.at(-1) ?? '';
  return values.length < 2 ? last : `${values.slice(0, -1).join(', ')} or ${last}`;
}

/** An id in the middle of a path. */
const plainId = (id: string) => shown(id).slice(1, -1);

const meant = (nearest: string | undefined) =>
  nearest === undefined ? '' : ` Did you mean ${shown(nearest)}?`;

/** What is wrong with a manifest, by code. A code is stable: settings, tests and quick fixes refer to it. */
export const problemTexts = {
  // The file
  'too-large': (sizeBytes: number, limitBytes: number) =>
    `This manifest has ${sizeBytes} bytes; at most ${limitBytes} are read. Move the data to a file of its own.`,
  'not-utf8': () => 'This manifest is not UTF-8 text. Save it with the encoding UTF-8.',
  unreadable: (reason: string) =>
    `This manifest can’t be read (${reason}). Check the permissions of the file.`,
  'not-a-file': (kind: string) => `The manifest is a ${kind}. Replace it by an ordinary file.`,
  'too-deep': (limit: number) =>
    `Values are nested more than ${limit} deep. No manifest needs that: remove the nesting.`,
  'too-many-problems': (most: number) => `Only the first ${most} problems are shown. Mend those first.`,

  // JSON
  empty: () => 'The manifest is empty. Start with { "version": 1 }.',
  comment: () => 'A manifest is plain JSON, which has no comments. Remove it, or use “description”.',
  'trailing-comma': () => 'Nothing follows this comma. Remove it.',
  'missing-comma': () => 'A comma is missing before this.',
  syntax: (expected: string) => `This is not JSON: ${expected}.`,
  'duplicate-key': (key: string) => `The key ${shown(key)} is here twice. Remove one of them.`,
  'bad-text': (what: string) =>
    `This text contains ${what}, which programs read and show differently. Remove it.`,

  // The schema
  'unknown-key': (key: string, nearest: string | undefined) =>
    `There is no key ${shown(key)} here.${nearest === undefined ? ' Remove it.' : meant(nearest)}`,
  'key-case': (key: string, known: string) => `The key ${shown(key)} is written ${shown(known)}.`,
  'reserved-key': (key: string) =>
    `The key ${shown(key)} has a meaning in JavaScript and is refused. Remove it.`,
  'missing-key': (key: string) => `The key ${shown(key)} is missing. Add it.`,
  'wrong-type': (expected: string, found: string) => `This is ${found}; ${expected} is needed here.`,
  'not-one-of': (value: string, allowed: readonly string[], nearest: string | undefined) =>
    `${shown(value)} is not known here. Use ${listed(allowed)}.${meant(nearest)}`,
  'bad-version': (version: number) => `Only version ${version} of this format is known. Write ${version}.`,
  'out-of-range': (value: string, allowed: string) =>
    `${shown(value)} is outside what is allowed: ${allowed}.`,
  'too-long': (characters: number, limit: number) =>
    `This text has ${characters} characters; at most ${limit} are allowed. Shorten it.`,
  'too-many-entries': (entries: number, limit: number) =>
    `This list has ${entries} entries; at most ${limit} are allowed. Shorten it.`,
  'too-short': () => 'This may not be empty. Write something.',
  'bad-id': (id: string) =>
    `${shown(id)} is not an id. Ids begin with a small letter and go on with small letters, digits and “-”, at most 64 in all.`,
  'bad-wire': (wire: string) =>
    `${shown(wire)} names no output. Write the card’s id, “/” and the port: load/weather.`,
  'bad-variable': (name: string) =>
    `${shown(name)} is not a name of an environment variable. Use capital letters, digits and “_”.`,
  'bad-service': (name: string) =>
    `${shown(name)} names no execution service. Write local, or a kind and a name: ssh:lab.`,
  'does-not-fit': (detail: string) => `This does not fit the format: ${detail}.`,

  // A card
  'bad-card-folder': (name: string) =>
    `The card’s folder ${shown(name)} is its id, and that is not an id. Rename the folder: small letters, digits and “-”, a letter first.`,
  'not-in-project': () =>
    'No pattern of a sallyport.json finds this card, so it is in no graph. Add its folder to “cards”.',
  'entry-is-list': (runtime: string) =>
    `A list of arguments is for the runtime command. For ${runtime} name one file of this folder.`,
  'entry-is-text': () => 'The runtime command needs a list of arguments, the program first.',
  'outside-folder': (path: string) =>
    `${shown(path)} is not a plain path inside the folder. Write names joined by “/”: no “..”, “\\” or “:”, and no name of a device.`,
  'missing-entry': (path: string, nearest: string | undefined) =>
    `There is no file ${shown(path)} in this card’s folder. Create it or correct the name.${meant(nearest)}`,
  'entry-not-file': (path: string, kind: string) =>
    `${shown(path)} is a ${kind}; a card runs an ordinary file. Name one.`,
  'unwired-input': (port: string) =>
    `Nothing feeds the input ${shown(port)}. Add “from”, or set “optional” to true.`,
  'unknown-view-output': (port: string, nearest: string | undefined) =>
    `This card has no output ${shown(port)} to show. Name one of its outputs.${meant(nearest)}`,
  'range-reversed': () => 'The minimum is over the maximum. Exchange them.',
  'default-outside-range': (value: string, allowed: string) =>
    `The default ${value} is outside the range: ${allowed}. Change one of them.`,
  'default-not-a-choice': (value: string, nearest: string | undefined) =>
    `The default ${shown(value)} is none of the choices. Use one of them.${meant(nearest)}`,
  'listed-twice': (value: string) => `${shown(value)} is listed twice. Remove one.`,
  'same-name': (name: string) => `The name ${shown(name)} is used twice here. Give each one its own.`,
  'bad-host': (host: string) =>
    `${shown(host)} is not a host. Write a name or address in small letters, with a port where it is not 80 or 443: api.example.org:8443.`,
  'bad-port': (host: string) => `The port of ${shown(host)} is not a number from 1 to 65535. Name one port.`,
  'any-host': (host: string) =>
    `${shown(host)} means every host. Name the hosts the card needs, or write true for the whole network, which a person then has to accept.`,
  'broad-host': (host: string, suffix: string) =>
    `${shown(host)} takes in hosts of strangers: anyone can get a name under ${shown(suffix)}. Name the host itself.`,
  'host-range': (host: string) => `${shown(host)} is a range of addresses. List the addresses one by one.`,
  'bad-host-folder': (path: string) =>
    `${shown(path)} is no folder of this computer. Write an absolute path or one that begins with ~/.`,
  'broad-host-folder': (path: string) =>
    `${shown(path)} holds much more than a card needs, keys included. Name a folder inside it.`,
  'vault-use': () =>
    'Say once how the value is used: “env” with the name of a variable, or “use”, for example { "type": "header", "hosts": ["api.example.org"], "name": "authorization", "prefix": "Bearer " }.',
  'vault-host': (host: string) =>
    `A vault value goes only to hosts that are named whole, and ${shown(host)} stands for many. Name the one that needs it.`,
  'vault-host-closed': (host: string) =>
    `${shown(host)} is not listed in “network”, so no value can go there. List it there as well.`,
  'vault-header': (name: string) =>
    `The header ${shown(name)} says where a message goes or ends and can’t carry a value. Use another one, such as “authorization”.`,
  'reserved-variable': (name: string) =>
    `The variable ${shown(name)} steers how programs start and is set by Sallyport. Use another name.`,

  // A project
  'bad-pattern': (pattern: string) =>
    `${shown(pattern)} is not understood. Name one folder, or all folders of one with “/*” at the end: cards/*.`,
  'missing-folder': (path: string) => `There is no folder ${shown(path)}. Create it or correct the name.`,
  'no-manifest': (path: string) =>
    `The folder ${shown(path)} has no _card.json. Add one or remove the entry.`,
  'folder-is-link': (path: string) =>
    `${shown(path)} is a link, and links are not followed. Put the folder itself here.`,
  'folder-unreadable': (path: string, reason: string) =>
    `The folder ${shown(path)} can’t be read (${reason}). Check its permissions.`,
  'duplicate-card': (id: string, other: string) =>
    `There is a second card ${shown(id)} in ${shown(other)}. Rename one of the two folders.`,
  'too-much-text': (limitBytes: number) =>
    `The manifests of this project have more than ${limitBytes} bytes; the others are left out. Move data out of them.`,
  'too-many-cards': (limit: number) =>
    `This project has more than ${limit.toLocaleString('en')} cards and does not run. Split it.`,
  'missing-source': (path: string) =>
    `There is no file ${shown(path)} in this project. Create it or correct the name.`,

  // An app
  'bad-page': (path: string) =>
    `${shown(path)} is not a page of this folder. Write a path of letters, digits, “.”, “_” and “-” that ends in .html: index.html.`,
  'bad-module': (path: string) =>
    `${shown(path)} is not a module of this folder. Write a path of letters, digits, “.”, “_” and “-” that ends in .js or .mjs: index.js.`,
  'bad-app-version': (version: string) =>
    `${shown(version)} is not a version of an app. Write three numbers: 1.2.0.`,
  'bad-function-name': (name: string) =>
    `${shown(name)} can’t be the name of a function. Begin with a small letter and go on with letters and digits: findNotes.`,
  'missing-file': (path: string, nearest: string | undefined) =>
    `There is no file ${shown(path)} in this folder. Create it or correct the name.${meant(nearest)}`,
  'missing-plugin': (id: string, nearest: string | undefined) =>
    `There is no plugins/${plainId(id)}/plugin.json, so this app can’t be installed. Write it or correct the id.${meant(nearest)}`,
  'plugin-folder': (id: string, folder: string) =>
    `This plugin’s folder is ${shown(folder)}, and its id is ${shown(id)}. The two must be the same.`,
  'unlisted-plugin': (id: string) =>
    `The app’s app.json does not list ${shown(id)} in “plugins”, so this plugin is no part of the app. Add it there.`,

  // Wires
  'unknown-card': (card: string, nearest: string | undefined) =>
    `There is no card ${shown(card)} in this project.${meant(nearest)}`,
  'unknown-port': (card: string, port: string, nearest: string | undefined) =>
    `The card ${shown(card)} has no output ${shown(port)}.${meant(nearest)}`,
  'wire-types': (from: string, fromType: string, to: string, toType: string) =>
    `The output ${from} gives ${fromType}, but the input ${to} takes ${toType}. Change one of the two types.`,
  cycle: (path: string) => `These cards wait for each other: ${path}. Remove one of the wires.`,
  'unknown-source': (id: string, nearest: string | undefined) =>
    `There is no environment source ${shown(id)} in sallyport.json. Add it there or correct the name.${meant(nearest)}`,
} as const;

export type ProblemTexts = typeof problemTexts;
export type ProblemCode = keyof ProblemTexts;

/** The codes that do not stop a card from running. What is cut off could be worse, so that does. */
export const warningCodes: ReadonlySet<ProblemCode> = new Set<ProblemCode>([
  'not-in-project',
  'missing-folder',
  'no-manifest',
  'folder-is-link',
  'listed-twice',
  'unlisted-plugin',
]);

/** Titles of quick fixes. */
export const fixTitles = {
  remove: (what: string) => `Remove ${what}`,
  replace: (value: string) => `Change to ${shown(value)}`,
  insertComma: () => 'Insert a comma',
  addKey: (key: string) => `Add ${shown(key)}`,
  createFile: (path: string) => `Create ${shown(path)}`,
  makeOptional: () => 'Make the input optional',
  removeWire: () => 'Remove this wire',
  exchange: () => 'Exchange minimum and maximum',
} as const;

/** Labels of the places that a problem also has to do with. */
export const relatedTexts = {
  otherEnd: (port: string, type: string) => `${port} is ${type}`,
  cycleWire: (from: string, to: string) => `the wire from ${from} to ${to}`,
} as const;

/** Titles of code lenses; states are words of `cardStates`. */
export const lensTitles = {
  runCard: () => '$(play) Run card',
  runProject: () => '$(play) Run project',
  openCanvas: () => '$(type-hierarchy) Open canvas',
  state: (state: string, cached: boolean, runMs: number | null) =>
    `Last run: ${state}${cached ? ', from the cache' : runMs === null ? '' : `, ${duration(runMs)}`}`,
  closed: () => 'Closed: no permissions',
  asks: (sentences: readonly string[]) =>
    `Asks for: ${sentences.slice(0, 3).join(' · ')}${sentences.length > 3 ? ' · …' : ''}`,
  permissions: (sentences: readonly string[], waiting: number) =>
    `${waiting > 0 ? `$(lock) Review ${waiting} of ${sentences.length}: ` : '$(unlock) '}${sentences.slice(0, 3).join(' · ')}${sentences.length > 3 ? ' · …' : ''}`,
} as const;

function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}

/** Plain words for the values of the enumerations, for hover and completion. */
export const valueTexts: Readonly<Record<string, string>> = {
  js: 'JavaScript in QuickJS inside the engine; runs on every platform.',
  python: 'Python 3, sealed in its own process.',
  node: 'Node, sealed in its own process.',
  shell: 'A shell script, sealed in its own process.',
  command: 'The list of arguments in “entry”, sealed in its own process.',
  json: 'One JSON value.',
  text: 'Plain text in UTF-8.',
  table: 'A table: CSV with a header.',
  file: 'One file of any kind.',
  directory: 'A folder with files.',
  image: 'A picture.',
  html: 'An HTML page, shown in an opaque frame without network.',
  'vega-lite': 'A Vega-Lite chart as JSON.',
  plotly: 'A Plotly chart as JSON.',
  integer: 'A whole number.',
  number: 'A number.',
  string: 'Text.',
  boolean: '`true` or `false`.',
  choice: 'One of the “choices”.',
};

/** Hover texts that are put together from a manifest. */
export const hoverTexts = {
  source: (card: string, title: string, port: string, type: string, description: string | undefined) =>
    [
      `**${plain(title)}** (\`${card}\`)`,
      `Output \`${port}\`: ${type}`,
      ...(description ? [plain(description)] : []),
    ].join('\n\n'),
  noSource: () => 'No such output in this project.',
  default: (value: number) => `Where it is absent: ${value}.`,
  local: () => 'on this machine or a local network, which the review points out',
} as const;

/** Text of a file for Markdown: nothing in it is read as markup. */
export function plain(text: string): string {
  return text
    .slice(0, 2000)
    .replace(unsafeCharacters, (character) => (character === '\n' ? '\n' : escapeCharacter(character)))
    .replace(/[\\`*_{}[\]()#+\-.!|<>~$&]/g, '\\$&');
}

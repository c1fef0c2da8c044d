/**
 * The shell's own list of what an app may ask for. It is written apart from `protocol/src/bridge.ts` and from the
 * engine's table, and shares no schema with them, so that a mistake in one of the two is not a way in. It knows shapes,
 * sizes and lanes; what an app was permitted is the engine's to know.
 */

type Check = (value: unknown) => boolean;
type Shape = Readonly<Record<string, Check>>;

/** Calls of one lane are counted together: `callLimits.ts`. */
export type Lane = 'quick' | 'plugin' | 'model' | 'person';

export interface Entry {
  readonly lane: Lane;
  /** The theme is the shell's own to tell. */
  readonly isOwn?: boolean;
  readonly shape: Shape;
}

const mebibyte = 1024 * 1024;
const text =
  (most: number, least = 0): Check =>
  (value) =>
    typeof value === 'string' && value.length >= least && value.length <= most;
const matching =
  (pattern: RegExp): Check =>
  (value) =>
    typeof value === 'string' && pattern.test(value);
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const listOf =
  (check: Check, most: number): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.length <= most && value.every(check);
const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.includes(value as string);
const between =
  (least: number, most: number): Check =>
  (value) =>
    typeof value === 'number' && value >= least && value <= most;
const anything: Check = (value) => value !== undefined;

const plugin = matching(/^[a-z][a-z0-9-]{0,63}$/);
const path: Check = (value) =>
  text(1700, 1)(value) &&
  (value as string).split('/').length <= 16 &&
  (value as string).split('/').every((part) => /^[\w-][\w.-]{0,99}$/.test(part));
const encoding = oneOf('text', 'base64');
const name = text(200, 1);
const bytes = text(Math.ceil((2 * mebibyte) / 3) * 4);

/** By method. What is not here is refused. */
export const shellTable: ReadonlyMap<string, Entry> = new Map<string, Entry>([
  [
    'plugin.call',
    { lane: 'plugin', shape: { plugin, function: matching(/^[a-z][A-Za-z0-9]{0,63}$/), input: anything } },
  ],
  [
    'generate.text',
    {
      lane: 'model',
      shape: {
        messages: listOf(
          (value) => hasShape(value, { role: oneOf('user', 'assistant'), text: text(500_000) }),
          400,
        ),
        system: maybe(text(500_000)),
        model: maybe(name),
        maxTokens: maybe((value) => Number.isInteger(value) && between(1, 64_000)(value)),
        temperature: maybe(between(0, 2)),
      },
    },
  ],
  [
    'generate.image',
    {
      lane: 'model',
      shape: {
        prompt: text(500_000, 1),
        size: maybe(matching(/^[1-9]\d{1,3}x[1-9]\d{1,3}$/)),
        model: maybe(name),
      },
    },
  ],
  [
    'generate.speech',
    { lane: 'model', shape: { text: text(20_000, 1), voice: maybe(name), model: maybe(name) } },
  ],
  ['generate.embedding', { lane: 'model', shape: { texts: listOf(text(200_000), 256), model: maybe(name) } }],
  ['files.get', { lane: 'quick', shape: { path, encoding } }],
  ['files.put', { lane: 'quick', shape: { path, content: bytes, encoding } }],
  ['files.list', { lane: 'quick', shape: { prefix: maybe(matching(/^[\w./-]{0,200}$/)) } }],
  ['files.delete', { lane: 'quick', shape: { path } }],
  ['files.quota', { lane: 'quick', shape: {} }],
  ['models.list', { lane: 'quick', shape: { kind: maybe(oneOf('text', 'image', 'speech', 'embedding')) } }],
  ['voices.list', { lane: 'quick', shape: {} }],
  ['results.list', { lane: 'quick', shape: {} }],
  ['results.read', { lane: 'quick', shape: { project: name, card: name, port: name, encoding } }],
  ['link.open', { lane: 'person', shape: { url: webAddress } }],
  [
    'download.save',
    { lane: 'person', shape: { name: matching(/^[^/\\\p{C}]{1,100}$/u), content: bytes, encoding } },
  ],
  ['theme.get', { lane: 'quick', isOwn: true, shape: {} }],
]);

/** True for an object with these members and no other; each absent one is judged as `undefined`. */
export function hasShape(value: unknown, shape: Shape): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  const members = new Map<string, unknown>(Object.entries(value));
  for (const key of members.keys()) if (!Object.hasOwn(shape, key)) return false;
  return Object.entries(shape).every(([key, check]) => check(members.get(key)));
}

/** Nobody's name stands before the host, where it would be read as the host. */
function webAddress(value: unknown): boolean {
  if (!text(2000, 1)(value)) return false;
  const url = URL.parse(value as string);
  if (!url || (url.protocol !== 'https:' && url.protocol !== 'http:')) return false;
  return url.username === '' && url.password === '' && url.hostname !== '';
}

import * as z from 'zod/mini';
import { permissionKey, type Permission } from '../../../../protocol/src/permissions.ts';

/**
 * The engine's own list of what an app's page may ask for. It is written apart from the shell's
 * (`webviews/src/appHost/shellTable.ts`) and from the contract (`protocol/src/bridge.ts`), on purpose: a mistake in one of
 * them opens nothing. What is not here is refused, whoever let it through.
 */
export interface BridgeRow<P extends z.ZodMiniType = z.ZodMiniType> {
  readonly params: P;
  /** The permission that the page itself must have; null where none is needed. */
  readonly needs: ((permissions: readonly Permission[]) => boolean) | null;
  /** Which budget a call is counted in, beside that of all calls. */
  readonly budget: 'plain' | 'generate' | 'plugin';
}

function row<P extends z.ZodMiniType>(
  params: P,
  needs: BridgeRow['needs'],
  budget: BridgeRow['budget'] = 'plain',
): BridgeRow<P> {
  return { params, needs, budget };
}

const has = (permission: Permission) => (permissions: readonly Permission[]) =>
  permissions.some((each) => permissionKey(each) === permissionKey(permission));
const stores = (permissions: readonly Permission[]) =>
  permissions.some((each) => each.name === 'storage' && each.megabytes > 0);
const seesModels = has({ name: 'models' });
const readsResults = has({ name: 'results' });

const filePath = z.string().check(
  z.maxLength(1616),
  z.regex(/^(?!.*\/\/)[A-Za-z0-9_-][A-Za-z0-9._/-]*$/),
  z.refine((path) => {
    const parts = path.split('/');
    return parts.length <= 16 && parts.every((part) => /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,99}$/.test(part));
  }),
);
const encoding = z.literal(['text', 'base64']);
const identifier = z.string().check(z.maxLength(64), z.regex(/^[a-z][a-z0-9-]*$/));
const label = z.string().check(z.minLength(1), z.maxLength(200));
const model = z.optional(label.check());
const prompt = z.string().check(z.maxLength(500_000));
const nothing = z.strictObject({});

export const bridgeTable = {
  'plugin.call': row(
    z.strictObject({
      plugin: identifier,
      function: z.string().check(z.maxLength(64), z.regex(/^[a-z][A-Za-z0-9]*$/)),
      input: z.unknown(),
    }),
    null,
    'plugin',
  ),
  'generate.text': row(
    z.strictObject({
      messages: z
        .array(z.strictObject({ role: z.literal(['user', 'assistant']), text: prompt.check() }))
        .check(
          z.minLength(1),
          z.maxLength(400),
          z.refine((all) => all.at(-1)?.role === 'user'),
        ),
      system: z.optional(prompt.check()),
      model,
      maxTokens: z.optional(z.int().check(z.positive(), z.maximum(64_000))),
      temperature: z.optional(z.number().check(z.nonnegative(), z.maximum(2))),
    }),
    has({ name: 'generate', kind: 'text' }),
    'generate',
  ),
  'generate.image': row(
    z.strictObject({
      prompt: prompt.check(z.minLength(1)),
      size: z.optional(z.string().check(z.regex(/^[1-9][0-9]{1,3}x[1-9][0-9]{1,3}$/))),
      model: model.check(),
    }),
    has({ name: 'generate', kind: 'image' }),
    'generate',
  ),
  'generate.speech': row(
    z.strictObject({
      text: z.string().check(z.minLength(1), z.maxLength(20_000)),
      voice: model.check(),
      model: model.check(),
    }),
    has({ name: 'generate', kind: 'speech' }),
    'generate',
  ),
  'generate.embedding': row(
    z.strictObject({
      texts: z.array(z.string().check(z.maxLength(200_000))).check(z.minLength(1), z.maxLength(256)),
      model: model.check(),
    }),
    has({ name: 'generate', kind: 'embedding' }),
    'generate',
  ),
  'files.get': row(z.strictObject({ path: filePath, encoding }), stores),
  'files.put': row(
    z.strictObject({
      path: filePath.check(),
      content: z.string().check(z.maxLength(3 * 1024 * 1024)),
      encoding: encoding.check(),
    }),
    stores,
  ),
  'files.list': row(
    z.strictObject({ prefix: z.optional(z.string().check(z.maxLength(200), z.regex(/^[A-Za-z0-9._/-]*$/))) }),
    stores,
  ),
  'files.delete': row(z.strictObject({ path: filePath.check() }), stores),
  'files.quota': row(nothing, stores),
  'models.list': row(
    z.strictObject({ kind: z.optional(z.literal(['text', 'image', 'speech', 'embedding'])) }),
    seesModels,
  ),
  'voices.list': row(nothing.check(), seesModels),
  'results.list': row(nothing.check(), readsResults),
  'results.read': row(
    z.strictObject({
      project: label.check(),
      card: label.check(),
      port: label.check(),
      encoding: encoding.check(),
    }),
    readsResults,
  ),
} as const;

export type BridgeTable = typeof bridgeTable;
export type EngineMethod = keyof BridgeTable;
export type EngineParams<M extends EngineMethod> = z.infer<BridgeTable[M]['params']>;

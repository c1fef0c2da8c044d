import * as z from 'zod/mini';
import { digest } from './artifacts.ts';
import { notification, request } from './contract.ts';
import { permission } from './permissions.ts';

/**
 * Extension ↔ engine: apps and their plugins. An install has two steps: what is staged is reviewed by its digest, and
 * exactly that is installed. Only the extension, for a person, may send these.
 */

const app = z.string().check(z.regex(/^[a-z][a-z0-9-]{0,63}$/));
const plugin = app.check();

export const appSource = z.discriminatedUnion('kind', [
  /** An absolute folder of this machine. */
  z.strictObject({ kind: z.literal('folder'), path: z.string() }),
  z.strictObject({ kind: z.literal('zip'), path: z.string() }),
  /** A file that `app/export` wrote. */
  z.strictObject({ kind: z.literal('backup'), path: z.string() }),
  /** `https:` or `ssh:`; `ref` is a branch, a tag or a commit. */
  z.strictObject({ kind: z.literal('git'), url: z.string(), ref: z.optional(z.string()) }),
]);
export type AppSource = z.infer<typeof appSource>;

export const permissionLine = z.strictObject({
  key: z.string(),
  permission,
  sentence: z.string(),
  /** True where an update asks for it and the installed version has it not. */
  isNew: z.boolean(),
  /** True for a host on this machine or the local network. */
  isLocal: z.boolean(),
});
export type PermissionLine = z.infer<typeof permissionLine>;

export const pluginReview = z.strictObject({
  id: plugin,
  functions: z.array(z.strictObject({ name: z.string(), description: z.string() })),
  permissions: z.array(permissionLine),
  /** Permission sentences that the installed version has and this one does without. */
  dropped: z.array(z.string()),
  state: z.enum(['same', 'new', 'changed', 'removed']),
});

/** What a person is shown before anything of an app runs. Every text in it that came from the app is escaped. */
export const appReview = z.strictObject({
  stageId: z.string(),
  /** Over everything that is shown and the staged tree: an answer is bound to it. */
  digest,
  app,
  name: z.string(),
  appVersion: z.string(),
  source: appSource,
  /** The commit of a git source. */
  commit: z.nullable(z.string()),
  treeDigest: digest,
  files: z.int(),
  sizeBytes: z.int(),
  isOfficial: z.boolean(),
  permissions: z.array(permissionLine),
  dropped: z.array(z.string()),
  plugins: z.array(pluginReview),
  packages: z.array(
    z.strictObject({
      name: z.string(),
      version: z.string(),
      integrity: z.string(),
      state: z.enum(['same', 'new', 'changed', 'removed']),
    }),
  ),
  /** The version that is installed; null for a first install. */
  installed: z.nullable(z.strictObject({ appVersion: z.string(), source: appSource })),
  /** Why a person is asked, beyond this being an install: `wider`, `source-changed`, `downgrade`, … */
  reasons: z.array(
    z.strictObject({
      kind: z.enum([
        'install',
        'wider',
        'packages',
        'source-changed',
        'downgrade',
        'same-version',
        'restore',
      ]),
      text: z.string(),
    }),
  ),
  /** Data that a backup brings with it, in bytes. */
  dataBytes: z.int(),
});
export type AppReview = z.infer<typeof appReview>;

export const pluginView = z.strictObject({
  id: plugin,
  state: z.enum(['on', 'off', 'switched-off', 'removed']),
  /** Why it was switched off, in words. */
  reason: z.nullable(z.string()),
  lastError: z.nullable(z.string()),
  permissions: z.array(permissionLine),
});

export const appView = z.strictObject({
  id: app,
  name: z.string(),
  appVersion: z.string(),
  source: appSource,
  commit: z.nullable(z.string()),
  isOfficial: z.boolean(),
  /**
   * What grants of the vault to its plugins are bound to. An update from the same source keeps it; deleting the app, or
   * another source, ends it for good. It is in no backup.
   */
  installation: z.string(),
  permissions: z.array(permissionLine),
  plugins: z.array(pluginView),
  codeBytes: z.int(),
  dataBytes: z.int(),
  quotaBytes: z.int(),
  lastError: z.nullable(z.string()),
  /** An update that waits for a person's review; null where none does. */
  waiting: z.nullable(z.strictObject({ stageId: z.string(), appVersion: z.string() })),
  /** Milliseconds since the epoch until which a deleted app can be brought back; null for one that is there. */
  deletedUntil: z.nullable(z.int()),
});
export type AppView = z.infer<typeof appView>;

/** What is put into the opaque frame. */
export const appPage = z.strictObject({
  app,
  name: z.string(),
  /** Of the installed tree. */
  treeDigest: digest,
  /** A file with one self-contained HTML document, absolute; bytes never travel in messages. */
  documentPath: z.string(),
  documentBytes: z.int(),
});

export const storeEntry = z.strictObject({
  id: app,
  name: z.string(),
  description: z.string(),
  url: z.string(),
  ref: z.string(),
  isInstalled: z.boolean(),
});
export type StoreEntry = z.infer<typeof storeEntry>;

export const appRequests = {
  'app/list': request(z.strictObject({ withDeleted: z.optional(z.boolean()) }), z.array(appView)),
  /** Copies the source into a staging folder and reads it; nothing of it runs. Cancelling removes what was staged. */
  'app/stage': request(z.strictObject({ source: appSource, progressId: z.string() }), appReview, {
    timeoutMs: 0,
  }),
  'app/review': request(z.strictObject({ stageId: z.string() }), appReview),
  /** Installs exactly what was reviewed. Rejects with `conflict` where anything changed since. */
  'app/install': request(z.strictObject({ stageId: z.string(), digest, progressId: z.string() }), appView, {
    timeoutMs: 0,
  }),
  'app/discard': request(z.strictObject({ stageId: z.string() }), z.strictObject({ found: z.boolean() })),
  /** Looks at the app's source. An update that asks for nothing more is applied; a wider one waits. */
  'app/update': request(
    z.strictObject({ app, progressId: z.string() }),
    z.discriminatedUnion('kind', [
      z.strictObject({ kind: z.literal('none') }),
      z.strictObject({ kind: z.literal('applied'), view: appView, text: z.string() }),
      z.strictObject({ kind: z.literal('waits'), review: appReview }),
    ]),
    { timeoutMs: 0 },
  ),
  'app/page': request(z.strictObject({ app }), appPage, { timeoutMs: 120_000 }),
  'app/setPlugin': request(z.strictObject({ app, plugin, state: z.enum(['on', 'off', 'removed']) }), appView),
  'app/delete': request(z.strictObject({ app }), z.strictObject({ until: z.int() })),
  'app/restore': request(z.strictObject({ app }), appView),
  /** App and data, never keys, to one file of mode 0600 that is not there yet. */
  'app/export': request(
    z.strictObject({ app, path: z.string(), progressId: z.string() }),
    z.strictObject({ sizeBytes: z.int() }),
    { timeoutMs: 0 },
  ),
  'app/log': request(
    z.strictObject({ app }),
    z.array(z.strictObject({ at: z.int(), source: z.string(), text: z.string() })),
  ),
  /**
   * `index` is the address of the git repository (`https:` or `ssh:`) that a person named in the settings. An index that
   * no person has confirmed yet rejects with `permission-needed` and `data` `{ url, commit, digest, apps }`; asked again
   * with `confirm` set to that digest it answers, and is known from then on.
   */
  'appStore/list': request(
    z.strictObject({ index: z.string(), confirm: z.optional(digest), progressId: z.string() }),
    z.array(storeEntry),
    { timeoutMs: 0 },
  ),
  /**
   * One call of an app's page, already checked by the shell and checked again by the engine's own table. `app` is set
   * by the extension from the webview that the call came from. `params` is JSON text; the answer is the JSON text of a
   * `bridgeAnswer` (bridge.ts), also for a refusal. `callId` is set where pieces of a text are wanted: `bridge/chunk`.
   */
  'bridge/call': request(
    z.strictObject({
      app,
      method: z.string(),
      params: z.string(),
      callId: z.optional(z.string().check(z.maxLength(64))),
    }),
    z.strictObject({ result: z.string() }),
    { timeoutMs: 0 },
  ),
} as const;

export const appEvents = {
  /** Something of an app changed: ask again for what is shown. */
  'app/changed': notification(z.strictObject({ app })),
  /** A piece of a text that a `bridge/call` under way waits for, in order. Together they are the whole text. */
  'bridge/chunk': notification(z.strictObject({ app, callId: z.string(), text: z.string() })),
  'app/progress': notification(
    z.strictObject({ progressId: z.string(), fraction: z.nullable(z.number()), text: z.string() }),
  ),
} as const;

import type { AppReview, AppView, PermissionLine } from '../../protocol/src/apps.ts';

type Over<T> = { readonly [K in keyof T]?: T[K] };

/** A host that an app asks for. */
export function hostLine(host: string, over: Over<PermissionLine> = {}): PermissionLine {
  return {
    key: `network:${host}`,
    permission: { name: 'network', host },
    sentence: `Reach ${host} over the network`,
    isNew: true,
    isLocal: false,
    ...over,
  };
}

export function storageLine(megabytes: number, isNew = true): PermissionLine {
  return {
    key: `storage:${megabytes}`,
    permission: { name: 'storage', megabytes },
    sentence: `Store up to ${megabytes} MB`,
    isNew,
    isLocal: false,
  };
}

export type PluginReview = AppReview['plugins'][number];

export function makePluginReview(over: Over<PluginReview> = {}): PluginReview {
  return {
    id: 'search',
    functions: [{ name: 'find', description: 'Finds notes' }],
    permissions: [hostLine('api.example.org')],
    dropped: [],
    state: 'new',
    ...over,
  };
}

/** The review of a first install of `notes`. */
export function makeReview(over: Over<AppReview> = {}): AppReview {
  return {
    stageId: 'stage-1',
    digest: 'd'.repeat(64),
    app: 'notes',
    name: 'Notes',
    appVersion: '1.0.0',
    source: { kind: 'git', url: 'https://example.org/notes.git' },
    commit: 'c'.repeat(40),
    treeDigest: 'e'.repeat(64),
    files: 12,
    sizeBytes: 40_960,
    isOfficial: false,
    permissions: [storageLine(16)],
    dropped: [],
    plugins: [makePluginReview()],
    packages: [],
    installed: null,
    reasons: [{ kind: 'install', text: 'It is installed for the first time' }],
    dataBytes: 0,
    ...over,
  };
}

/** An update of `notes` whose plugin wants one more host. */
export function makeUpdate(over: Over<AppReview> = {}): AppReview {
  return makeReview({
    appVersion: '1.1.0',
    permissions: [storageLine(16, false)],
    plugins: [
      makePluginReview({
        state: 'changed',
        permissions: [hostLine('api.example.org', { isNew: false }), hostLine('more.example.org')],
      }),
    ],
    installed: { appVersion: '1.0.0', source: { kind: 'git', url: 'https://example.org/notes.git' } },
    reasons: [{ kind: 'wider', text: 'It asks for more than the installed version' }],
    ...over,
  });
}

export type PluginView = AppView['plugins'][number];

export function makePlugin(over: Over<PluginView> = {}): PluginView {
  return {
    id: 'search',
    state: 'on',
    reason: null,
    lastError: null,
    permissions: [hostLine('api.example.org')],
    ...over,
  };
}

export function makeApp(over: Over<AppView> = {}): AppView {
  return {
    id: 'notes',
    name: 'Notes',
    appVersion: '1.0.0',
    source: { kind: 'git', url: 'https://example.org/notes.git' },
    commit: 'c'.repeat(40),
    isOfficial: false,
    installation: 'a'.repeat(24),
    permissions: [storageLine(16)],
    plugins: [makePlugin()],
    codeBytes: 40_960,
    dataBytes: 2048,
    quotaBytes: 16 * 1024 * 1024,
    lastError: null,
    waiting: null,
    deletedUntil: null,
    ...over,
  };
}

import type { AppReview, AppSource, PermissionLine } from '../../../protocol/src/apps.ts';
import {
  permissionKey,
  permissionSentence,
  widening,
  type Permission,
} from '../../../protocol/src/permissions.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import type { AppRecord, StageRecord } from './appRecords.ts';
import { isLocalHost } from './localHost.ts';
import type { LockedPackage } from './packages/lockFile.ts';
import { digestOf, type PermissionSet } from './permissionSet.ts';
import type { AppContent } from './readApp.ts';
import { sourceKey } from './sources/source.ts';
import { decideUpdate, type ReasonKind, type UpdateDecision } from './updateRules.ts';

export interface ReviewParts {
  readonly stage: StageRecord;
  readonly content: AppContent;
  readonly installed: { readonly app: AppRecord; readonly accepted: PermissionSet } | null;
  readonly isOfficial: boolean;
  readonly dataBytes: number;
}

/** What the rules say of a staged app beside the installed one. */
export function decideStage({ stage, content, installed }: ReviewParts): UpdateDecision {
  const { manifest, asked } = content;
  return decideUpdate(
    installed && {
      source: sourceKey(installed.app.source),
      appVersion: installed.app.appVersion,
      treeDigest: installed.app.code.digest,
      permissions: installed.accepted,
    },
    {
      source: sourceKey(stage.source),
      appVersion: manifest.appVersion,
      treeDigest: stage.code.digest,
      permissions: asked,
      isRestore: stage.source.kind === 'backup',
    },
  );
}

/**
 * Everything that a person is shown of a staged app, from parsed fields; text of the app is escaped. Its digest is over
 * all of it and over what was accepted before, so that any change of either makes it another review.
 */
export function createAppReview(parts: ReviewParts): AppReview {
  const { stage, content, installed, isOfficial, dataBytes } = parts;
  const { manifest, asked } = content;
  const accepted = installed?.accepted;
  const decision = decideStage(parts);
  const shown: Omit<AppReview, 'digest' | 'stageId'> = {
    app: manifest.id,
    name: showHidden(manifest.name),
    appVersion: manifest.appVersion,
    source: stage.source,
    commit: stage.commit,
    treeDigest: stage.code.digest,
    files: stage.code.files,
    sizeBytes: stage.code.sizeBytes,
    isOfficial,
    permissions: permissionLines(asked.app, accepted?.app ?? null),
    dropped: droppedSentences(accepted?.app ?? [], asked.app),
    plugins: pluginReviews(content, accepted),
    packages: packageReviews(content.packages, accepted?.packages ?? null),
    installed: installed && { appVersion: installed.app.appVersion, source: installed.app.source },
    reasons: (decision.kind === 'ask' ? decision.reasons : []).map((kind) => ({
      kind,
      text: reasonText(kind, parts),
    })),
    dataBytes,
  };
  return { stageId: stage.id, ...shown, digest: digestOf({ shown, accepted: accepted ?? null }) };
}

/** Lines for a list of permissions. `accepted` null means that there is nothing to compare with: none is new. */
export function permissionLines(
  asked: readonly Permission[],
  accepted: readonly Permission[] | null,
): PermissionLine[] {
  const wider = new Set(accepted === null ? [] : widening(accepted, asked).map(permissionKey));
  return asked.map((permission) => ({
    key: permissionKey(permission),
    permission,
    sentence: showHidden(permissionSentence(permission)),
    isNew: wider.has(permissionKey(permission)),
    isLocal: permission.name === 'network' && isLocalHost(permission.host),
  }));
}

function droppedSentences(had: readonly Permission[], asked: readonly Permission[]): string[] {
  return widening(asked, had).map((permission) => showHidden(permissionSentence(permission)));
}

function pluginReviews(
  { plugins, asked }: AppContent,
  accepted: PermissionSet | undefined,
): AppReview['plugins'] {
  const before = new Map(Object.entries(accepted?.plugins ?? {}));
  const now = [...plugins].map(([id, plugin]): AppReview['plugins'][number] => {
    const had = before.get(id);
    const permissions = permissionLines(asked.plugins[id] ?? [], accepted ? (had ?? []) : null);
    const dropped = droppedSentences(had ?? [], asked.plugins[id] ?? []);
    const isChanged = dropped.length > 0 || permissions.some(({ isNew }) => isNew);
    return {
      id,
      functions: Object.entries(plugin.functions).map(([name, { description }]) => ({
        name: showHidden(name),
        description: showHidden(description ?? ''),
      })),
      permissions,
      dropped,
      state: had === undefined ? 'new' : isChanged ? 'changed' : 'same',
    };
  });
  const gone = [...before].filter(([id]) => !plugins.has(id));
  return [
    ...now,
    ...gone.map(([id, had]): AppReview['plugins'][number] => ({
      id,
      functions: [],
      permissions: [],
      dropped: droppedSentences(had, []),
      state: 'removed',
    })),
  ];
}

function packageReviews(
  packages: readonly LockedPackage[],
  accepted: readonly string[] | null,
): AppReview['packages'] {
  const before = new Map((accepted ?? []).map((key) => [key, splitKey(key)]));
  const names = new Set([...before.values()].map(({ name }) => name));
  const unique = new Map(packages.map((each) => [`${each.name}@${each.version} ${each.integrity}`, each]));
  const now = [...unique].map(([key, { name, version, integrity }]): AppReview['packages'][number] => ({
    name,
    version,
    integrity,
    state: before.has(key) ? 'same' : names.has(name) ? 'changed' : 'new',
  }));
  const kept = new Set(packages.map(({ name }) => name));
  const gone = [...before.values()].filter(({ name }) => !kept.has(name));
  return [...now, ...gone.map((each) => ({ ...each, state: 'removed' as const }))];
}

function splitKey(key: string): { name: string; version: string; integrity: string } {
  const [, name = '', version = '', integrity = ''] = /^(.+)@([^@ ]+) (\S+)$/.exec(key) ?? [];
  return { name, version, integrity };
}

function reasonText(kind: ReasonKind, { stage, content, installed }: ReviewParts): string {
  const asked = content.manifest.appVersion;
  const had = installed?.app.appVersion ?? '';
  switch (kind) {
    case 'install':
      return 'It is not installed yet.';
    case 'wider':
      return 'It asks for more than the installed version was given.';
    case 'packages':
      return 'Packages that are built into it were added, changed or removed.';
    case 'source-changed':
      return `It comes from ${sourceText(stage.source)}; the installed one came from ${installed ? sourceText(installed.app.source) : 'elsewhere'}. The data that the app stored stays with it.`;
    case 'downgrade':
      return `It is version ${asked}; the installed one is ${had}, which is newer.`;
    case 'same-version':
      return `It says that it is version ${asked} like the installed one, and its files differ.`;
    case 'restore':
      return 'It comes from a backup file, whose content anyone could have changed.';
  }
}

/** A source in words. */
export function sourceText(source: AppSource): string {
  if (source.kind === 'git')
    return showHidden(source.ref === undefined ? source.url : `${source.url}#${source.ref}`);
  return showHidden(`the ${source.kind === 'zip' ? 'archive' : source.kind} ${source.path}`);
}

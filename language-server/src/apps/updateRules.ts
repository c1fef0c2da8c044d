import { compareVersions } from './appVersion.ts';
import { wideningOf, type PermissionSet } from './permissionSet.ts';

/** What the rules look at, of the version that is there and of the one that was staged. */
export interface VersionFacts {
  /** What tells one source from another (`sourceKey`). */
  readonly source: string;
  readonly appVersion: string;
  readonly treeDigest: string;
  readonly permissions: PermissionSet;
}

export type ReasonKind =
  'install' | 'wider' | 'packages' | 'source-changed' | 'downgrade' | 'same-version' | 'restore';

export type UpdateDecision =
  /** It is what is installed. */
  | { readonly kind: 'none' }
  /** It asks for nothing more: it is applied, one line is recorded, and consent shrinks to what it asks for. */
  | { readonly kind: 'apply' }
  /** A person is asked, for every reason that holds. The installed version goes on working. */
  | { readonly kind: 'ask'; readonly reasons: readonly ReasonKind[] };

/**
 * The rules of updates. `installed.permissions` is what a person accepted, never what the installed manifest says.
 * Pure: the same facts give the same decision.
 */
export function decideUpdate(
  installed: VersionFacts | null,
  staged: VersionFacts & { readonly isRestore: boolean },
): UpdateDecision {
  const restore: ReasonKind[] = staged.isRestore ? ['restore'] : [];
  if (!installed) return { kind: 'ask', reasons: [...restore, 'install'] };
  const reasons = [
    ...restore,
    ...rules.filter(({ holds }) => holds(installed, staged)).map(({ kind }) => kind),
  ];
  if (reasons.length > 0) return { kind: 'ask', reasons };
  return { kind: installed.treeDigest === staged.treeDigest ? 'none' : 'apply' };
}

const rules: readonly {
  readonly kind: ReasonKind;
  readonly holds: (installed: VersionFacts, staged: VersionFacts) => boolean;
}[] = [
  { kind: 'source-changed', holds: (installed, staged) => installed.source !== staged.source },
  {
    kind: 'downgrade',
    holds: (installed, staged) => compareVersions(staged.appVersion, installed.appVersion) < 0,
  },
  {
    kind: 'same-version',
    holds: (installed, staged) =>
      compareVersions(staged.appVersion, installed.appVersion) === 0 &&
      installed.treeDigest !== staged.treeDigest,
  },
  {
    kind: 'wider',
    holds: (installed, staged) => {
      const more = wideningOf(installed.permissions, staged.permissions);
      return more.app.length > 0 || more.plugins.length > 0;
    },
  },
  {
    kind: 'packages',
    holds: (installed, staged) => wideningOf(installed.permissions, staged.permissions).packages,
  },
];

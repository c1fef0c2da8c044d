import type { AppSource } from '../../../../protocol/src/apps.ts';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';

export type GitSource = Extract<AppSource, { kind: 'git' }>;

/** Freezes one commit of a repository. */
export type TakeRepository = (
  source: GitSource,
  options: { readonly onProgress: (text: string) => void; readonly signal: AbortSignal },
) => Promise<{ readonly code: ArtifactRef; readonly commit: string }>;

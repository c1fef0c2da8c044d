import { basename, dirname } from 'node:path';
import { appManifestNames } from '../../../protocol/src/manifestLanguage.ts';
import { cardFile, projectFile } from '../project/findCards.ts';
import type { LoadedCard, LoadedProject } from '../project/model.ts';
import type { ProjectState } from '../project/projectState.ts';
import { parseText, type ParsedText } from './parseText.ts';
import { lineStarts } from './positions.ts';
import type { ManifestKind } from './schema.ts';

/** A manifest that is open in an editor, with what is known around it. */
export interface ManifestContext {
  readonly kind: ManifestKind;
  readonly path: string;
  readonly text: string;
  readonly parsed: ParsedText;
  readonly lines: Uint32Array;
  readonly state: ProjectState | undefined;
  readonly project: LoadedProject | undefined;
  /** The card of this manifest, where a project has it. */
  readonly card: LoadedCard | undefined;
}

/** By its name alone: a file of another program may be called `app.json` or `plugin.json` (`Workspace.kindOf`). */
export function manifestKind(path: string): ManifestKind | undefined {
  const name = basename(path);
  return Object.hasOwn(kinds, name) ? kinds[name] : undefined;
}

const kinds: Readonly<Record<string, ManifestKind>> = {
  [projectFile]: 'project',
  [cardFile]: 'card',
  ...appManifestNames,
};

export function manifestContext(
  path: string,
  text: string,
  state: ProjectState | undefined,
): ManifestContext | undefined {
  const kind = manifestKind(path);
  if (!kind) return undefined;
  const project = state?.loaded;
  const card = project?.cards.get(basename(dirname(path)));
  return {
    kind,
    path,
    text,
    parsed: parseText(text),
    lines: lineStarts(text),
    state,
    project,
    card: card?.manifestPath === path ? card : undefined,
  };
}

import { limits } from '../../../protocol/src/limits.ts';
import { checkAppText, checkCardText, checkProjectText } from '../manifests/checkManifest.ts';
import { manifestKind } from '../manifests/manifestContext.ts';
import { problem, startOfFile } from '../manifests/problem.ts';
import type { Problem } from '../project/model.ts';

/**
 * The problems of an open manifest that is read with no project: those of its text, and for a card that it is in none.
 * Manifests of apps are judged beside the files of their folder.
 */
export function looseProblems(
  path: string,
  text: string,
): { problems: readonly Problem[]; lines: Uint32Array } {
  if (text.length > limits.manifestBytes) {
    const tooLarge = problem('too-large', startOfFile, [text.length, limits.manifestBytes]);
    return { problems: [tooLarge], lines: Uint32Array.of(0) };
  }
  const kind = manifestKind(path);
  if (kind === 'project') return checkProjectText(text);
  if (kind === 'app' || kind === 'plugin') return checkAppText(kind, text, path);
  const { problems, lines } = checkCardText(text);
  return { problems: [problem('not-in-project', startOfFile, []), ...problems], lines };
}

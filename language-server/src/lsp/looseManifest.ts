import { limits } from '../../../protocol/src/limits.ts';
import { checkCardText, checkProjectText } from '../manifests/checkManifest.ts';
import { manifestKind } from '../manifests/manifestContext.ts';
import { problem, startOfFile } from '../manifests/problem.ts';
import type { Problem } from '../project/model.ts';

/** The problems of an open manifest that no project has: those of its text alone, and that it is in none. */
export function looseProblems(
  path: string,
  text: string,
): { problems: readonly Problem[]; lines: Uint32Array } {
  if (text.length > limits.manifestBytes) {
    const tooLarge = problem('too-large', startOfFile, [text.length, limits.manifestBytes]);
    return { problems: [tooLarge], lines: Uint32Array.of(0) };
  }
  if (manifestKind(path) === 'project') return checkProjectText(text);
  const { problems, lines } = checkCardText(text);
  return { problems: [problem('not-in-project', startOfFile, []), ...problems], lines };
}

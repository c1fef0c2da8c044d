import * as z from 'zod/mini';
import type { Node } from 'jsonc-parser';
import {
  appManifest,
  cardManifest,
  pluginManifest,
  projectManifest,
  type CardManifest,
  type ProjectManifest,
} from '../../../protocol/src/manifests.ts';
import type { ProblemCode } from '../messages.ts';
import type { Problem } from '../project/model.ts';
import { cardFacts, type CardFacts } from './cardFacts.ts';
import { checkApp, checkPlugin } from './checkApp.ts';
import { checkCard } from './checkCard.ts';
import { checkProject, type ProjectFacts } from './checkProject.ts';
import { checkShape } from './checkShape.ts';
import { at, spanOf } from './nodes.ts';
import { parseText, type ParsedText } from './parseText.ts';
import { lineStarts } from './positions.ts';
import { collectProblems, problem, startOfFile, type Report } from './problem.ts';
import { schemas, type ManifestKind } from './schema.ts';

/** Everything that one manifest's text says by itself. */
export interface CheckedText<Manifest> {
  /** Null where the text does not parse or does not fit the schema. */
  readonly manifest: Manifest | null;
  readonly problems: readonly Problem[];
  readonly lines: Uint32Array;
}
export interface CheckedCard extends CheckedText<CardManifest> {
  readonly facts: CardFacts;
}
export interface CheckedProject extends CheckedText<ProjectManifest> {
  readonly facts: ProjectFacts;
}

/** Checks a `_card.json` by its text alone; never throws. */
export function checkCardText(text: string): CheckedCard {
  const { parsed, ...checked } = check(text, 'card', cardManifest, (root, report) =>
    checkCard(text, root, report),
  );
  return { ...checked, facts: cardFacts(text, parsed.root, parsed.value !== undefined) };
}

/** The same for a `sallyport.json`. */
export function checkProjectText(text: string): CheckedProject {
  let facts: ProjectFacts = { patterns: [], sources: [] };
  const { manifest, problems, lines } = check(text, 'project', projectManifest, (root, report) => {
    facts = checkProject(text, root, report);
  });
  return { manifest, problems, lines, facts };
}

/**
 * An open `app.json` or `plugin.json`, with what is there around it. What any editor's JSON support says of such a file
 * is left to it.
 */
export function checkAppText(
  kind: 'app' | 'plugin',
  text: string,
  path: string,
): Pick<CheckedText<unknown>, 'problems' | 'lines'> {
  const { problems, lines } =
    kind === 'app'
      ? check(text, kind, appManifest, (root, report) => checkApp(text, root, path, report))
      : check(text, kind, pluginManifest, (root, report) => checkPlugin(text, root, path, report));
  return { problems: problems.filter(({ code }) => !jsonCodes.has(code)), lines };
}

const jsonCodes: ReadonlySet<string> = new Set<ProblemCode>([
  'empty',
  'syntax',
  'missing-comma',
  'comment',
  'trailing-comma',
]);

const brokenCodes: ReadonlySet<string> = new Set<ProblemCode>([
  'syntax',
  'missing-comma',
  'too-many-problems',
]);

function check<S extends z.ZodMiniType>(
  text: string,
  kind: ManifestKind,
  schema: S,
  checkRules: (root: Node, report: Report) => void,
): CheckedText<z.infer<S>> & { readonly parsed: ParsedText } {
  const parsed = parseText(text);
  const { root } = parsed;
  // What follows from a broken place is no news: only where every value was found is it judged.
  const isWhole = root && !parsed.problems.some((each) => brokenCodes.has(each.code));
  const fits = parsed.value === undefined ? undefined : z.safeParse(schema, parsed.value);
  const found = collectProblems((report) => {
    parsed.problems.forEach(report);
    if (!isWhole) return;
    if (!fits?.success) checkShape(text, root, schemas[kind], report);
    checkRules(root, report);
  });
  // Should the explanations above have missed what the schema refuses, its own words stand in.
  if (fits?.success === false && !found.some((each) => each.severity === 'error')) {
    const issue = fits.error.issues[0];
    const node = at(
      parsed.root,
      ...(issue?.path ?? []).map((part) => (typeof part === 'number' ? part : String(part))),
    );
    found.push(problem('does-not-fit', node ? spanOf(node) : startOfFile, [issue?.message ?? kind]));
  }
  return { parsed, manifest: fits?.success ? fits.data : null, problems: found, lines: lineStarts(text) };
}

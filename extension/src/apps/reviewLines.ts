import type { AppReview, PermissionLine } from '../../../protocol/src/apps.ts';
import { parseVaultUse } from '../../../protocol/src/vaultUse.ts';
import { reviewWords as words } from '../appMessages.ts';
import { plain } from '../plainText.ts';
import { wishWords } from '../vault/ui/wishWords.ts';

/** What a fact is, beside its words; lists and documents show it as a picture or a sign. */
export type ReviewMark = 'new' | 'local' | 'gone' | 'warning' | 'plain';

export interface ReviewFact {
  readonly text: string;
  readonly note?: string;
  readonly mark: ReviewMark;
}

export interface ReviewSection {
  readonly heading: string;
  readonly facts: readonly ReviewFact[];
}

/** What a person is shown of an app: what counts, and, of an update, what stays as it is. */
export interface ReviewParts {
  readonly counts: readonly ReviewSection[];
  readonly same: readonly ReviewSection[];
}

type PluginReview = AppReview['plugins'][number];
type PackageReview = AppReview['packages'][number];

/**
 * A review as sections of plain facts, in Sallyport's words. Of a first install everything counts; of an update only what
 * is different, and the rest is in `same`. Nothing of the review but functions and digests is left out.
 */
export function reviewParts(review: AppReview): ReviewParts {
  const { installed, packages, permissions, plugins } = review;
  const isUpdate = installed !== null;
  const split = plugins.map((plugin) => pluginParts(plugin, isUpdate));
  const page = permissionParts(permissions, review.dropped, isUpdate, words.closedPage());
  const isDifferent = (each: PackageReview): boolean => !isUpdate || each.state !== 'same';
  const heading = words.headings;
  const counts = filled([
    { heading: heading.about(), facts: aboutFacts(review) },
    { heading: heading.reasons(), facts: reasonFacts(review) },
    { heading: heading.page(), facts: page.counts },
    ...split.map(({ counts: part }) => part),
    {
      heading: heading.packages(),
      facts: packages.filter(isDifferent).map((each) => packageFact(each, isUpdate)),
    },
  ]);
  const same = filled([
    { heading: heading.page(), facts: page.same },
    ...split.map(({ same: part }) => part),
    {
      heading: heading.packages(),
      facts: packages.filter((each) => !isDifferent(each)).map((each) => packageFact(each, isUpdate)),
    },
  ]);
  return { counts, same };
}

/** True where a text holds a character that the engine had to escape. */
export function isFlagged(review: AppReview): boolean {
  // JSON writes the backslash of `\u{202E}` twice.
  return /\\\\u\{[0-9A-F]{1,6}\}/.test(JSON.stringify(shownTexts(review)));
}

/** Every text of a review that its author wrote. */
function shownTexts({ name, source, commit, permissions, dropped, plugins, packages }: AppReview): unknown[] {
  return [name, source, commit, permissions, dropped, plugins, packages];
}

function aboutFacts(review: AppReview): ReviewFact[] {
  const { name, appVersion, installed, source, commit, isOfficial, files, sizeBytes, dataBytes } = review;
  return [
    {
      text: words.version(name, appVersion, installed?.appVersion),
      note: isOfficial ? words.official() : words.notOfficial(),
      mark: 'plain',
    },
    {
      text: words.source(source),
      ...(installed && !isSame(installed.source, source) && { note: words.sourceWas(installed.source) }),
      mark: installed && !isSame(installed.source, source) ? 'warning' : 'plain',
    },
    ...(commit === null ? [] : [{ text: words.commit(commit), mark: 'plain' } as const]),
    { text: words.measure(files, sizeBytes), mark: 'plain' },
    ...(dataBytes === 0 ? [] : [{ text: words.data(dataBytes), mark: 'plain' } as const]),
    ...(!installed
      ? [{ text: words.neverKeys(), mark: 'plain' } as const]
      : asksMore(review)
        ? []
        : [{ text: words.nothingNew(), mark: 'plain' } as const]),
    ...(isFlagged(review) ? [{ text: words.flagged(), mark: 'warning' } as const] : []),
  ];
}

function reasonFacts({ reasons }: AppReview): ReviewFact[] {
  return reasons
    .filter(({ kind }) => kind !== 'install')
    .map(({ text }) => ({ text: plain(text), mark: 'warning' }));
}

function pluginParts(
  plugin: PluginReview,
  isUpdate: boolean,
): { readonly counts: ReviewSection; readonly same: ReviewSection } {
  const heading = words.headings.plugin(plugin.id);
  if (plugin.state === 'removed')
    return {
      counts: { heading, facts: [{ text: words.pluginRemoved(), mark: 'gone' }] },
      same: { heading, facts: [] },
    };
  const isCompared = isUpdate && plugin.state !== 'new';
  const found = permissionParts(plugin.permissions, plugin.dropped, isCompared, words.closedPlugin());
  const state: ReviewFact[] = !isUpdate
    ? []
    : plugin.state === 'new'
      ? [{ text: words.pluginNew(), mark: 'new' }]
      : plugin.state === 'changed'
        ? [{ text: words.pluginChanged(), mark: 'plain' }]
        : [];
  return {
    counts: { heading, facts: [...state, ...found.counts] },
    same: { heading, facts: found.same },
  };
}

/** Where nothing is compared, everything counts. */
function permissionParts(
  permissions: readonly PermissionLine[],
  dropped: readonly string[],
  isCompared: boolean,
  closed: string,
): { readonly counts: ReviewFact[]; readonly same: ReviewFact[] } {
  const gone = dropped.map((sentence): ReviewFact => ({ text: words.dropped(sentence), mark: 'gone' }));
  if (permissions.length === 0) {
    const nothing: ReviewFact = { text: closed, mark: 'plain' };
    return isCompared ? { counts: gone, same: [nothing] } : { counts: [nothing, ...gone], same: [] };
  }
  const facts = (lines: readonly PermissionLine[], isNew: boolean) =>
    lines.flatMap((line) => permissionFacts(line, isNew));
  if (!isCompared) return { counts: [...facts(permissions, false), ...gone], same: [] };
  return {
    counts: [
      ...facts(
        permissions.filter(({ isNew }) => isNew),
        true,
      ),
      ...gone,
    ],
    same: facts(
      permissions.filter(({ isNew }) => !isNew),
      false,
    ),
  };
}

/** One line for each; a wish for a vault value takes two, so that a list shows both whole. */
function permissionFacts({ permission, sentence, isLocal }: PermissionLine, isNew: boolean): ReviewFact[] {
  const mark = isLocal ? 'local' : isNew ? 'new' : 'plain';
  const notes = [...(isNew ? [words.asksNew()] : []), ...(isLocal ? [words.local()] : [])];
  const use = permission.name === 'vaultWish' ? parseVaultUse(permission.use) : undefined;
  if (permission.name !== 'vaultWish' || !use || !('hosts' in use))
    return [{ text: plain(sentence), ...(notes.length > 0 && { note: notes.join(', ') }), mark }];
  const { item, field } = permission;
  return [
    { text: wishWords.review(use), note: [wishWords.reviewNote(), ...notes].join(', '), mark },
    { text: wishWords.reviewHow({ item, field, use }), mark: 'plain' },
  ];
}

function packageFact({ name, version, state }: PackageReview, isUpdate: boolean): ReviewFact {
  if (!isUpdate) return { text: words.package(name, version), mark: 'plain' };
  return {
    text: words.package(name, version),
    note: words.packageState(state),
    mark: state === 'removed' ? 'gone' : state === 'same' ? 'plain' : 'new',
  };
}

function asksMore({ permissions, plugins, packages }: AppReview): boolean {
  return (
    permissions.some(({ isNew }) => isNew) ||
    plugins.some(({ state, permissions: asked }) => state === 'new' || asked.some(({ isNew }) => isNew)) ||
    packages.some(({ state }) => state === 'new' || state === 'changed')
  );
}

function filled(sections: readonly ReviewSection[]): ReviewSection[] {
  return sections.filter(({ facts }) => facts.length > 0);
}

function isSame(a: AppReview['source'], b: AppReview['source']): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

import type { AppReview } from '../../../protocol/src/apps.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { reviewWords as words } from '../appMessages.ts';
import type { Report } from '../documents/reportTexts.ts';
import { reviewParts, type ReviewFact, type ReviewMark, type ReviewSection } from './reviewLines.ts';

/**
 * The whole of a review as a read-only document: what counts first, what stays as it is, what each plugin offers, every
 * package with its hash, and what an answer is bound to. Nothing is cut.
 */
export function reviewReport(review: AppReview): Report {
  const { counts, same } = reviewParts(review);
  const title = words.title(review);
  const sections = [
    ...counts,
    ...(same.length > 0 ? [{ heading: words.headings.same(), facts: same.flatMap(indented) }] : []),
    ...offers(review),
    ...integrity(review),
    {
      heading: words.headings.bound(),
      facts: words.bound(review.digest, review.treeDigest).map((text) => ({ text, mark: 'plain' }) as const),
    },
  ];
  return {
    title: words.documentTitle(review),
    text: `${underlined(title, '=')}\n\n${sections.map(sectionText).join('\n')}`,
  };
}

const signs: Readonly<Record<ReviewMark, string>> = {
  new: '+',
  gone: '-',
  local: '!',
  warning: '!',
  plain: ' ',
};

function sectionText({ heading, facts }: ReviewSection): string {
  return `${underlined(heading, '-')}\n${facts.map(factText).join('\n')}\n`;
}

function factText({ text, note, mark }: ReviewFact): string {
  return showHidden(`${signs[mark]} ${text}${note === undefined ? '' : ` (${note})`}`);
}

function underlined(text: string, line: string): string {
  return `${text}\n${line.repeat(Array.from(text).length)}`;
}

function indented({ heading, facts }: ReviewSection): ReviewFact[] {
  return [
    { text: heading, mark: 'plain' },
    ...facts.map((fact): ReviewFact => ({ ...fact, text: `    ${fact.text}` })),
  ];
}

/** What each plugin offers to the page. */
function offers({ plugins }: AppReview): ReviewSection[] {
  return plugins
    .filter(({ functions }) => functions.length > 0)
    .map(({ id, functions }) => ({
      heading: words.headings.offers(id),
      facts: functions.map(({ name, description }) => ({
        text: words.offers(name, description),
        mark: 'plain',
      })),
    }));
}

function integrity({ packages }: AppReview): ReviewSection[] {
  const built = packages.filter(({ state }) => state !== 'removed');
  if (built.length === 0) return [];
  const facts = built.flatMap(({ name, version, integrity: hash }): ReviewFact[] => [
    { text: words.package(name, version), mark: 'plain' },
    { text: `    ${hash}`, mark: 'plain' },
  ]);
  return [{ heading: words.headings.integrity(), facts }];
}

import type { PermissionReview } from '../../../protocol/src/engine.ts';
import { hasHidden, plain } from '../plainText.ts';

/** One permission of one card as it is put to a person. */
export interface ReviewLine {
  readonly card: string;
  readonly cardTitle: string;
  readonly key: string;
  /** The whole sentence, made plain. */
  readonly sentence: string;
  readonly isNew: boolean;
  /** Longer than the list shows: it can be accepted only after its whole text was opened. */
  readonly isLong: boolean;
  /** Holds characters that a reader would not see; they are shown escaped. */
  readonly hasHidden: boolean;
}

/** What is new, grouped by card, in the order of the review; then what was accepted before. */
export function reviewLines(review: PermissionReview): { asked: ReviewLine[]; accepted: ReviewLine[] } {
  const lines = review.cards.flatMap((card) =>
    card.permissions.map((each): ReviewLine => {
      const sentence = plain(each.sentence);
      return {
        card: card.id,
        cardTitle: plain(card.title),
        key: each.key,
        sentence,
        isNew: each.isNew,
        isLong: Array.from(sentence).length > lineCharacters,
        hasHidden: hasHidden(each.sentence) || hasHidden(card.title),
      };
    }),
  );
  return { asked: lines.filter((line) => line.isNew), accepted: lines.filter((line) => !line.isNew) };
}

/** The selected lines as the engine takes them, one entry for each card, in order. Only what is new is sent. */
export function toAccepted(selected: readonly ReviewLine[]): { card: string; keys: string[] }[] {
  const keys = new Map<string, string[]>();
  for (const line of selected) {
    if (line.isNew) keys.set(line.card, [...(keys.get(line.card) ?? []), line.key]);
  }
  return [...keys].map(([card, cardKeys]) => ({ card, keys: cardKeys }));
}

/** What a pick list surely shows of one line at its narrowest. */
const lineCharacters = 72;

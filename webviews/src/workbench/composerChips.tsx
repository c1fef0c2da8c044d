import type { Mention } from '../../../protocol/src/agent.ts';
import { showHidden } from '../../../protocol/src/text.ts';
import { Icon } from '../ui/icon.tsx';
import type { HeldImage } from './images.ts';
import { mentionKey, mentionLabel } from './mentionText.ts';
import { mentionIcons } from './suggestionList.tsx';
import { workbenchWords as words } from './workbenchWords.ts';

export interface ComposerChipsProps {
  readonly mentions: readonly Mention[];
  readonly images: readonly HeldImage[];
  readonly onRemoveMention: (key: string) => void;
  readonly onRemoveImage: (image: HeldImage) => void;
}

/** What goes along with a message; each can be taken out again. */
export function ComposerChips({ mentions, images, onRemoveMention, onRemoveImage }: ComposerChipsProps) {
  if (mentions.length === 0 && images.length === 0) return null;
  return (
    <ul className="chips">
      {mentions.map((mention) => {
        const label = showHidden(mentionLabel(mention));
        return (
          <li className="chip" key={mentionKey(mention)}>
            <Icon name={mentionIcons[mention.kind]} />
            <span>{label}</span>
            <button
              type="button"
              aria-label={words.removeMention(label)}
              onClick={() => onRemoveMention(mentionKey(mention))}
            >
              <Icon name="close" />
            </button>
          </li>
        );
      })}
      {images.map((image) => {
        const name = showHidden(image.name);
        return (
          <li className="chip chip-image" key={image.url}>
            <img src={image.url} alt={name} />
            <button type="button" aria-label={words.removeImage(name)} onClick={() => onRemoveImage(image)}>
              <Icon name="close" />
            </button>
          </li>
        );
      })}
    </ul>
  );
}

import { useEffect, useState } from 'react';
import { Icon } from '../ui/icon.tsx';
import { workbenchWords as words } from './workbenchWords.ts';

/** Copies a text as it is, invisible characters too, and says for a moment that it did. */
export function CopyButton({ label, text }: { readonly label: string; readonly text: string }) {
  const [said, setSaid] = useState(false);
  useEffect(() => {
    if (!said) return;
    const timer = setTimeout(() => setSaid(false), 1500);
    return () => clearTimeout(timer);
  }, [said]);
  return (
    <button
      type="button"
      className="quiet"
      aria-label={said ? words.copied : label}
      title={label}
      onClick={() => void navigator.clipboard.writeText(text).then(() => setSaid(true))}
    >
      <Icon name={said ? 'done' : 'copy'} />
    </button>
  );
}

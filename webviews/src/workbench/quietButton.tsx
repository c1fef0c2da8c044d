import { Icon, type IconName } from '../ui/icon.tsx';

export interface QuietButtonProps {
  readonly label: string;
  readonly icon: IconName;
  /** Words beside the icon; without them only the icon is seen. */
  readonly text?: string;
  readonly isPressed?: boolean;
  readonly onClick: () => void;
}

/** A small button that stays out of the way of what is read. */
export function QuietButton({ label, icon, text, isPressed, onClick }: QuietButtonProps) {
  return (
    <button
      type="button"
      className="quiet"
      aria-label={label}
      aria-pressed={isPressed}
      title={label}
      onClick={onClick}
    >
      <Icon name={icon} />
      {text === undefined ? null : <span>{text}</span>}
    </button>
  );
}

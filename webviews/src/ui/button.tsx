import { provideVSCodeDesignSystem, vsCodeButton } from '@vscode/webview-ui-toolkit';
import { createElement } from 'react';
import { Icon, type IconName } from './icon.tsx';

provideVSCodeDesignSystem().register(vsCodeButton());

export interface ButtonProps {
  readonly label: string;
  readonly icon?: IconName;
  readonly kind?: 'primary' | 'secondary';
  /** Only the icon is seen; the label is its name and tooltip. */
  readonly iconOnly?: boolean;
  readonly disabled?: boolean;
  /** For a button that stays down. */
  readonly isPressed?: boolean;
  readonly onClick: () => void;
}

/** A button of VS Code's toolkit. */
export function Button(props: ButtonProps) {
  const { label, icon, kind = 'secondary', iconOnly = false, disabled = false, isPressed, onClick } = props;
  return createElement(
    'vscode-button',
    {
      appearance: iconOnly ? 'icon' : kind,
      disabled: disabled || undefined,
      title: iconOnly ? label : undefined,
      'aria-label': iconOnly ? label : undefined,
      'aria-pressed': isPressed,
      onClick: disabled ? undefined : onClick,
    },
    icon ? <Icon name={icon} slot={iconOnly ? undefined : 'start'} /> : null,
    iconOnly ? null : label,
  );
}

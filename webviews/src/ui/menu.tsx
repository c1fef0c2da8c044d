import { useEffect, useLayoutEffect, useRef, type KeyboardEvent } from 'react';
import { Icon, type IconName } from './icon.tsx';

export interface MenuItem {
  readonly label: string;
  readonly icon?: IconName;
  readonly disabled?: boolean;
  readonly run: () => void;
}

export interface MenuProps {
  readonly label: string;
  readonly items: readonly MenuItem[];
  /** What it opens beside, and what has the focus again afterwards. */
  readonly anchor: HTMLElement;
  readonly onClose: () => void;
}

/** A menu after the ARIA menu pattern: arrow keys, Home, End, Enter, Escape; a press elsewhere closes it. */
export function Menu({ label, items, anchor, onClose }: MenuProps) {
  const list = useRef<HTMLUListElement>(null);
  useLayoutEffect(() => {
    const element = list.current;
    if (!element) return;
    const at = anchor.getBoundingClientRect();
    const { width, height } = element.getBoundingClientRect();
    element.style.left = `${Math.max(4, Math.min(at.left + 12, innerWidth - width - 4))}px`;
    const below = at.bottom + 2;
    element.style.top = `${Math.max(4, below + height > innerHeight ? at.top - height - 2 : below)}px`;
    focusItem(element, 0);
  }, [anchor]);
  useEffect(() => {
    const onPress = (event: PointerEvent) => {
      if (!(event.target instanceof Element) || !list.current?.contains(event.target)) onClose();
    };
    document.addEventListener('pointerdown', onPress, true);
    return () => document.removeEventListener('pointerdown', onPress, true);
  }, [onClose]);

  const close = () => {
    onClose();
    anchor.focus({ preventScroll: true });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const element = list.current;
    if (!element) return;
    const at = itemsOf(element).indexOf(document.activeElement as HTMLElement);
    const moves: Record<string, number> = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: -1 };
    const to = moves[event.key];
    if (to !== undefined) focusItem(element, to);
    else if (event.key === 'Escape' || event.key === 'Tab') close();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <ul className="menu" role="menu" aria-label={label} ref={list} onKeyDown={onKeyDown}>
      {items.map((item) => (
        <li role="none" key={item.label}>
          <button
            type="button"
            role="menuitem"
            tabIndex={-1}
            aria-disabled={item.disabled === true}
            onClick={() => {
              if (item.disabled === true) return;
              close();
              item.run();
            }}
          >
            {item.icon ? <Icon name={item.icon} /> : null}
            {item.label}
          </button>
        </li>
      ))}
    </ul>
  );
}

function itemsOf(list: HTMLElement): HTMLElement[] {
  return [...list.querySelectorAll<HTMLElement>('[role=menuitem]')];
}

function focusItem(list: HTMLElement, index: number): void {
  const items = itemsOf(list);
  items[(index + items.length) % items.length]?.focus();
}

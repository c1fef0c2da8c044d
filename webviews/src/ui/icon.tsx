import type { CardState } from '../../../protocol/src/engine.ts';

/** The glyphs that are used, by their code points in the codicon font. */
const glyphs = {
  add: '\uea60',
  attach: '\uec34',
  braces: '\ueb0f',
  chat: '\ueac7',
  chevronDown: '\ueab4',
  chevronRight: '\ueab6',
  clock: '\uea82',
  close: '\uea76',
  code: '\uea94',
  copy: '\uebcc',
  diff: '\ueae1',
  down: '\uea9a',
  edit: '\uea73',
  file: '\uea7b',
  fit: '\ueb4c',
  fold: '\ueaf5',
  fork: '\uea63',
  globe: '\ueb01',
  graph: '\uebba',
  info: '\uea74',
  list: '\ueb84',
  open: '\ueb14',
  play: '\ueb2c',
  plug: '\ueb2d',
  redo: '\uebb0',
  save: '\ueb4b',
  send: '\uec0f',
  shield: '\ueb53',
  stop: '\ueba5',
  trash: '\uea81',
  undo: '\ueae2',
  up: '\ueaa1',
  warning: '\uea6c',
  zoomIn: '\ueb81',
  zoomOut: '\ueb82',
  queued: '\uea82',
  running: '\uea77',
  done: '\ueba4',
  failed: '\uea87',
  cancelled: '\ueabd',
  skipped: '\uead6',
  blocked: '\uea75',
  unknown: '\ueb32',
  none: '\uebb5',
} as const satisfies Record<CardState, string> & Record<string, string>;

export type IconName = keyof typeof glyphs;

/** A codicon beside words that say the same: hidden from screen readers. */
export function Icon({ name, slot }: { readonly name: IconName; readonly slot?: string | undefined }) {
  return (
    <span className={`icon icon-${name}`} aria-hidden="true" slot={slot}>
      {glyphs[name]}
    </span>
  );
}

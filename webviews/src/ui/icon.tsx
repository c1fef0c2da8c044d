import type { CardState } from '../../../protocol/src/engine.ts';

/** The glyphs that are used, by their code points in the codicon font. */
const glyphs = {
  braces: '\ueb0f',
  close: '\uea76',
  code: '\uea94',
  copy: '\uebcc',
  down: '\uea9a',
  fit: '\ueb4c',
  globe: '\ueb01',
  graph: '\uebba',
  list: '\ueb84',
  open: '\ueb14',
  play: '\ueb2c',
  save: '\ueb4b',
  shield: '\ueb53',
  stop: '\ueba5',
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

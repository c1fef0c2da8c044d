import type { Screen } from './screen.ts';

/** Where the command line writes and asks. */
export interface Terminal {
  /** One line of the answer. */
  out(line: string): void;
  /** One line beside the answer: progress, warnings, errors. */
  note(line: string): void;
  /** True where both ends are a real terminal, so that a person can be asked. */
  readonly isInteractive: boolean;
  readonly hasColour: boolean;
  /** Asks a person. Only for an interactive terminal. */
  ask(question: string): Promise<string>;
  /** Present where both ends are a real terminal. */
  readonly screen?: Screen | undefined;
}

const codes = { red: 31, green: 32, yellow: 33, blue: 34, dim: 2, bold: 1 } as const;
export type Colour = keyof typeof codes;

/** In colour where the terminal has any (ECMA-48, SGR). */
export function paint(terminal: Pick<Terminal, 'hasColour'>, colour: Colour, text: string): string {
  return terminal.hasColour ? `\u001b[${codes[colour]}m${text}\u001b[0m` : text;
}

/**
 * Text from a project, a card or the network, fit for a terminal: what would move the cursor, hide or reorder text is
 * shown escaped.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Co}\p{Cs}]/gu, (character) =>
    character === '\n' ? ' ' : `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`,
  );
}

/** Rows with their columns side by side; the last column is not padded. `paintCell` gets the padded cell. */
export function table(
  rows: readonly (readonly string[])[],
  paintCell: (cell: string, row: number, column: number) => string = (cell) => cell,
): string[] {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, widthOf(cell))));
  return rows.map((row, rowAt) =>
    row
      .map((cell, at) => {
        const padding = at === row.length - 1 ? 0 : (widths[at] ?? 0) - widthOf(cell);
        return paintCell(cell + ' '.repeat(padding), rowAt, at);
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Characters, which is columns for all that is printed here. */
function widthOf(cell: string): number {
  return Array.from(cell).length;
}

/** `0.31 s`, `2 min 5 s`; empty for null. */
export function duration(ms: number | null): string {
  if (ms === null) return '';
  if (ms < 60_000) return `${(ms / 1000).toFixed(2)} s`;
  return `${Math.floor(ms / 60_000)} min ${Math.round((ms % 60_000) / 1000)} s`;
}

/** `12.3 MB`, in powers of 1000. */
export function size(bytes: number): string {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  const power = bytes < 1 ? 0 : Math.min(units.length - 1, Math.floor(Math.log10(bytes) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${units[power] ?? ''}`;
}

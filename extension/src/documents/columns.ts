/** Rows as text with aligned columns, two spaces apart, the last one ragged. Lengths count code points. */
export function columns(rows: readonly (readonly string[])[]): string {
  const widths: number[] = [];
  for (const row of rows) {
    row.forEach((cell, at) => (widths[at] = Math.max(widths[at] ?? 0, Array.from(cell).length)));
  }
  return rows
    .map((row) =>
      row
        .map((cell, at) =>
          at === row.length - 1 ? cell : cell + ' '.repeat((widths[at] ?? 0) - Array.from(cell).length),
        )
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

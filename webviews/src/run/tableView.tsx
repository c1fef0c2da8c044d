import { useEffect, useMemo, useState } from 'react';
import { WindowedRows } from '../ui/windowedRows.tsx';
import { visibleText } from '../ui/visibleText.ts';
import { words } from '../ui/words.ts';
import { CsvReader, type CsvTable } from './csvTable.ts';

const rowPx = 26;
const charactersPerStep = 4 * 1024 * 1024;

/** A CSV text as a table: only the rows in view are in the page; a press on a column sorts, a second one turns it. */
export function TableView({ name, text }: { readonly name: string; readonly text: string }) {
  const [read, setRead] = useState<{ text: string; fraction: number; table?: CsvTable }>();
  useEffect(() => {
    const reader = new CsvReader(text);
    let timer: ReturnType<typeof setTimeout>;
    const step = () => {
      const more = reader.step(charactersPerStep);
      setRead({ text, fraction: reader.fraction, ...(more ? {} : { table: reader.table() }) });
      if (more) timer = setTimeout(step);
    };
    step();
    return () => clearTimeout(timer);
  }, [text]);
  const table = read?.text === text ? read.table : undefined;
  if (!table) {
    return <p className="nothing">{words.table.reading(Math.round((read?.fraction ?? 0) * 100))}</p>;
  }
  return <Table name={name} table={table} />;
}

interface Sorting {
  readonly column: number;
  readonly descending: boolean;
}

function Table({ name, table }: { readonly name: string; readonly table: CsvTable }) {
  const [sorting, setSorting] = useState<Sorting>();
  const order = useMemo(() => sorting && table.order(sorting.column, sorting.descending), [table, sorting]);
  const { widths, numeric } = useMemo(() => columnShapes(table), [table]);
  if (table.columns.length === 0) return <p className="nothing">{words.table.empty}</p>;
  const columns = { gridTemplateColumns: widths };
  return (
    <div className="table">
      <div className="pane-bar">
        <span className="muted">
          {words.table.rows(table.rowCount)}
          {table.unevenRows > 0 ? ` · ${words.table.uneven(table.unevenRows)}` : ''}
        </span>
      </div>
      <WindowedRows
        label={words.table.label(name)}
        role="table"
        rows={table.rowCount}
        rowPx={rowPx}
        head={
          <div className="table-row table-head" role="row" style={columns}>
            {table.columns.map((column, index) => (
              <div
                key={index}
                className={numeric.has(index) ? 'number' : ''}
                role="columnheader"
                aria-sort={
                  sorting?.column === index ? (sorting.descending ? 'descending' : 'ascending') : 'none'
                }
              >
                <button
                  type="button"
                  title={words.table.sortBy(visibleText(column))}
                  onClick={() =>
                    setSorting({
                      column: index,
                      descending: sorting?.column === index && !sorting.descending,
                    })
                  }
                >
                  {visibleText(column)}
                  {sorting?.column === index ? (sorting.descending ? ' ↓' : ' ↑') : ''}
                </button>
              </div>
            ))}
          </div>
        }
        row={(index) => {
          const number = order?.[index] ?? index;
          const cells = table.row(number);
          return (
            <div className="table-row" role="row" aria-rowindex={index + 2} key={number} style={columns}>
              {table.columns.map((_, column) => (
                <Cell key={column} text={cells[column] ?? ''} />
              ))}
            </div>
          );
        }}
      />
    </div>
  );
}

function Cell({ text }: { readonly text: string }) {
  return (
    <div
      role="cell"
      className={isNumber(text) ? 'number' : ''}
      title={text.length > 24 ? text.slice(0, 2000) : undefined}
    >
      {visibleText(text.slice(0, 500))}
    </div>
  );
}

/** From the header and the first rows, so that the columns hold still while scrolling. */
function columnShapes(table: CsvTable): { widths: string; numeric: ReadonlySet<number> } {
  const sample = Array.from({ length: Math.min(60, table.rowCount) }, (_, index) => table.row(index));
  const widths = table.columns.map((column, index) => {
    const longest = Math.max(column.length + 4, ...sample.map((cells) => (cells[index] ?? '').length));
    return `${Math.min(Math.max(longest + 3, 7), 42)}ch`;
  });
  const isNumeric = (index: number) => sample.every((cells) => isNumber(cells[index] ?? '0'));
  const numeric = new Set([...table.columns.keys()].filter((index) => sample.length > 0 && isNumeric(index)));
  return { widths: widths.join(' '), numeric };
}

function isNumber(text: string): boolean {
  return text.trim() !== '' && !Number.isNaN(Number(text));
}

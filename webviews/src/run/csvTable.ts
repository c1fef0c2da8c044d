/**
 * A CSV text (RFC 4180) that is kept as it is: only where each record starts is remembered, and cells are read when
 * they are shown. The first record names the columns.
 */
export class CsvTable {
  readonly columns: readonly string[];
  /** Records without the header. */
  readonly rowCount: number;
  /** Rows that have another number of cells than the header. Known after `CsvReader` read all. */
  readonly unevenRows: number;
  readonly #text: string;
  readonly #starts: Uint32Array;

  constructor(text: string, starts: Uint32Array, unevenRows: number) {
    this.#text = text;
    this.#starts = starts;
    this.columns = starts.length > 1 ? readRecord(text, starts[0] ?? 0, starts[1] ?? 0) : [];
    this.rowCount = Math.max(0, starts.length - 2);
    this.unevenRows = unevenRows;
  }

  /** Cells of a row; fewer or more than the columns where the text has it so. */
  row(index: number): string[] {
    return readRecord(this.#text, this.#starts[index + 1] ?? 0, this.#starts[index + 2] ?? 0);
  }

  /** Row numbers in the order of a column: as numbers where every filled cell is one, else as text; empty cells last. */
  order(column: number, descending: boolean): Uint32Array {
    const cells = Array.from({ length: this.rowCount }, (_, index) => this.row(index)[column] ?? '');
    const numbers = cells.map((cell) => (cell.trim() === '' ? NaN : Number(cell)));
    const isNumeric = cells.every((cell, index) => cell.trim() === '' || !Number.isNaN(numbers[index]));
    const sign = descending ? -1 : 1;
    const compareText = new Intl.Collator('en', { numeric: true }).compare;
    return Uint32Array.from(cells.keys()).sort((a, b) => {
      const [left = '', right = ''] = [cells[a], cells[b]];
      if (left === '' || right === '') return Number(left === '') - Number(right === '') || a - b;
      const order = isNumeric ? (numbers[a] ?? 0) - (numbers[b] ?? 0) : compareText(left, right);
      return sign * order || a - b;
    });
  }
}

/** Reads a CSV text in steps that leave the page's thread free in between. */
export class CsvReader {
  readonly #text: string;
  #at = 0;
  #starts = new Uint32Array(1024);
  #count = 0;
  #cells = 1;
  #columns = 0;
  #uneven = 0;
  #quoted = false;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith('\uFEFF') ? 1 : 0;
    if (this.#at < text.length) this.#push(this.#at);
  }

  /** Reads up to `characters` more. False when the end is reached. */
  step(characters: number): boolean {
    const text = this.#text;
    const end = Math.min(text.length, this.#at + characters);
    for (; this.#at < end; this.#at++) {
      const code = text.charCodeAt(this.#at);
      if (code === 34) this.#quoted = !this.#quoted;
      else if (code === 44 && !this.#quoted) this.#cells++;
      else if (code === 10 && !this.#quoted) this.#endRecord(this.#at + 1);
    }
    if (this.#at < text.length) return true;
    if (this.#count > 0 && this.#starts[this.#count - 1] !== text.length) this.#endRecord(text.length);
    return false;
  }

  /** From 0 to 1. */
  get fraction(): number {
    return this.#text.length === 0 ? 1 : this.#at / this.#text.length;
  }

  table(): CsvTable {
    return new CsvTable(this.#text, this.#starts.slice(0, this.#count), this.#uneven);
  }

  #endRecord(next: number): void {
    if (this.#count === 1) this.#columns = this.#cells;
    else if (this.#cells !== this.#columns) this.#uneven++;
    this.#cells = 1;
    this.#push(next);
  }

  #push(start: number): void {
    if (this.#count === this.#starts.length) {
      const larger = new Uint32Array(this.#starts.length * 2);
      larger.set(this.#starts);
      this.#starts = larger;
    }
    this.#starts[this.#count++] = start;
  }
}

function readRecord(text: string, start: number, end: number): string[] {
  const record = text.slice(start, end).replace(/\r?\n$/, '');
  if (!record.includes('"')) return record.split(',');
  const cells: string[] = [];
  let cell = '';
  let quoted = false;
  for (let at = 0; at < record.length; at++) {
    const character = record[at] ?? '';
    if (character !== '"') {
      if (character === ',' && !quoted) {
        cells.push(cell);
        cell = '';
      } else cell += character;
    } else if (quoted && record[at + 1] === '"') {
      cell += '"';
      at++;
    } else quoted = !quoted;
  }
  return [...cells, cell];
}

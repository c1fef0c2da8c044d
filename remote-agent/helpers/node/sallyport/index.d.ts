/** The inputs of this card, by the names of its ports. A missing file is Node's own `ENOENT`. */
export const inputs: {
  /** Where the file or folder is. Read-only. */
  path(port: string): string;
  /** Whether anything is wired to an optional port. */
  has(port: string): boolean;
  bytes(port: string): Uint8Array;
  /** UTF-8 text. */
  text(port: string): string;
  json(port: string): unknown;
  /** The rows of a CSV file by the names of its first line. Every value is text; a missing one is empty. */
  table(port: string): Record<string, string>[];
};

/** The outputs of this card. They are taken when it ends with exit code 0. */
export const outputs: {
  /** Where to write the file or folder of a port. */
  path(port: string): string;
  bytes(port: string, value: Uint8Array): void;
  text(port: string, value: string): void;
  /** NaN and infinity are errors, because JSON has neither. */
  json(port: string, value: unknown): void;
  /** CSV with a header. The columns are those of the first row unless named; null and undefined are left empty. */
  table(port: string, rows: Iterable<Record<string, unknown>>, columns?: readonly string[]): void;
};

/** The parameters of this run, as the manifest declares them. */
export const params: Readonly<Record<string, string | number | boolean>>;

/** Shows how far the card is: a fraction from 0 to 1, and a few words. Never fails. */
export function progress(fraction: number, text?: string): void;

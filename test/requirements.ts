/** A promised behaviour. A test cites it by putting `[id]` in its title; `test/unit/requirements.test.ts` fails on an uncited one. */
export interface Requirement {
  readonly id: string;
  readonly text: string;
  /** Where it is promised: a file of docs/ and its heading. */
  readonly source: string;
}

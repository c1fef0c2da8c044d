import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { RememberedJobs } from './remotePlace.ts';

/** What an engine remembers of jobs elsewhere, in a file: the next engine finds it, however this one ended. */
export class KeptJobs extends RememberedJobs {
  readonly #path: string;

  constructor(path: string) {
    super();
    this.#path = path;
    if (!existsSync(path)) return;
    const rows = JSON.parse(readFileSync(path, 'utf8')) as [string, never][];
    for (const [jobId, row] of rows) this.rows.set(jobId, row);
  }

  override send(...given: Parameters<RememberedJobs['send']>): void {
    super.send(...given);
    this.#keep();
  }

  override remove(jobId: string): void {
    super.remove(jobId);
    this.#keep();
  }

  override store(...given: Parameters<RememberedJobs['store']>): void {
    super.store(...given);
    this.#keep();
  }

  /** The result is stored here. */
  settle(jobId: string): void {
    const row = this.rows.get(jobId);
    if (row) this.rows.set(jobId, { ...row, state: 'settled' });
    this.#keep();
  }

  #keep(): void {
    writeFileSync(this.#path, JSON.stringify([...this.rows]));
  }
}

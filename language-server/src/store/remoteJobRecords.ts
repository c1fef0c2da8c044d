import { number, text, type Database, type Row } from './database.ts';

/** A job that this home has sent to another place. */
export interface RemoteJobRecord {
  readonly jobId: string;
  readonly place: string;
  readonly state: 'sent' | 'settled';
  readonly cancelled: boolean;
  readonly outputLimitBytes: number;
  /** What of its card is needed to judge its result later: JSON. */
  readonly cardJson: string;
}

/** One step of the schema (`schema.ts`). */
export const remoteJobTables = `
  create table place_engine (id text not null);
  insert into place_engine values (lower(hex(randomblob(16))));
  create table remote_jobs (
    job_id text primary key,
    place text not null,
    state text not null,
    cancelled integer not null,
    output_limit_bytes integer not null,
    card_json text not null
  ) without rowid;
  alter table card_runs add column place text;
  `;

/** The jobs that other places may hold for this home, until they have said that they hold them no more. */
export class RemoteJobRecords {
  readonly #database: Database;

  constructor(database: Database) {
    this.#database = database;
  }

  /** Names this home to places, for as long as its database lives. */
  engine(): string {
    return text(this.#database.get('select id from place_engine') ?? {}, 'id');
  }

  add(job: Omit<RemoteJobRecord, 'state' | 'cancelled'>): void {
    this.#database.run(
      `insert into remote_jobs (job_id, place, state, cancelled, output_limit_bytes, card_json)
       values (?, ?, 'sent', 0, ?, ?) on conflict do nothing`,
      job.jobId,
      job.place,
      job.outputLimitBytes,
      job.cardJson,
    );
  }

  /** Its result is stored here, or is none that could be. */
  settle(jobId: string): void {
    this.#database.run("update remote_jobs set state = 'settled' where job_id = ?", jobId);
  }

  cancel(jobId: string): void {
    this.#database.run('update remote_jobs set cancelled = 1 where job_id = ?', jobId);
  }

  remove(jobId: string): void {
    this.#database.run('delete from remote_jobs where job_id = ?', jobId);
  }

  find(jobId: string): RemoteJobRecord | undefined {
    const row = this.#database.get('select * from remote_jobs where job_id = ?', jobId);
    return row && toRecord(row);
  }

  list(place: string): RemoteJobRecord[] {
    return this.#database.all('select * from remote_jobs where place = ?', place).map(toRecord);
  }

  /** Those of every place whose end is not stored here. */
  sent(): RemoteJobRecord[] {
    return this.#database.all("select * from remote_jobs where state = 'sent'").map(toRecord);
  }

  /** Every place that may hold something. */
  places(): string[] {
    return this.#database.all('select distinct place from remote_jobs').map((row) => text(row, 'place'));
  }
}

function toRecord(row: Row): RemoteJobRecord {
  return {
    jobId: text(row, 'job_id'),
    place: text(row, 'place'),
    state: text(row, 'state') === 'settled' ? 'settled' : 'sent',
    cancelled: number(row, 'cancelled') === 1,
    outputLimitBytes: number(row, 'output_limit_bytes'),
    cardJson: text(row, 'card_json'),
  };
}

import * as z from 'zod/mini';
import { artifactRef, type ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { portType } from '../../../protocol/src/manifests.ts';
import { number, text, type Database, type Row } from './database.ts';

/** A file or folder that a card wrote to one of its outputs. */
const storedOutput = z.strictObject({ port: z.string(), type: portType, artifact: artifactRef });
export type StoredOutput = z.infer<typeof storedOutput>;

/** The outputs of one successful card run, found again by cache key. */
export interface StoredResult {
  readonly id: number;
  readonly outputs: readonly StoredOutput[];
}

const outputList = z.array(storedOutput);

/** Results by cache key, the parts that each key was made of, and folders whose frozen copy is known. */
export class ResultRecords {
  readonly #database: Database;
  readonly #found = new Map<string, StoredResult>();
  #cleanUps = -1;

  constructor(database: Database) {
    this.#database = database;
  }

  /**
   * Forgets what is kept in memory where anything was cleaned up since, by whichever engine. Asked once a run is
   * recorded, which keeps clean-ups away until it ends. Returns true where something was forgotten.
   */
  forgetRemoved(): boolean {
    const cleanUps = number(this.#database.get('select count from clean_ups') ?? {}, 'count');
    if (cleanUps === this.#cleanUps) return false;
    this.#cleanUps = cleanUps;
    this.#found.clear();
    return true;
  }

  /** A result for this key: the latest that this engine knows of. */
  find(key: string): StoredResult | undefined {
    const known = this.#found.get(key);
    if (known) return known;
    const row = this.#database.get(
      'select id, outputs_json from results where key = ? order by id desc limit 1',
      key,
    );
    if (!row) return undefined;
    const result = toResult(row);
    this.#found.set(key, result);
    return result;
  }

  byId(id: number): StoredResult | undefined {
    const row = this.#database.get('select id, outputs_json from results where id = ?', id);
    return row && toResult(row);
  }

  add(key: string, outputs: readonly StoredOutput[]): number {
    this.#found.delete(key);
    return this.#database.run(
      'insert into results (key, outputs_json) values (?, ?)',
      key,
      JSON.stringify(outputs),
    ).rowId;
  }

  saveParts(key: string, partsJson: string): void {
    this.#database.run(
      'insert into key_parts (key, parts_json) values (?, ?) on conflict do nothing',
      key,
      partsJson,
    );
  }

  parts(key: string): string | undefined {
    const row = this.#database.get('select parts_json from key_parts where key = ?', key);
    return row && text(row, 'parts_json');
  }

  /** The frozen copy of a folder, where its signature is still this one. */
  capture(folder: string, signature: string): ArtifactRef | undefined {
    const row = this.#database.get(
      'select artifact_json from captures where folder = ? and signature = ?',
      folder,
      signature,
    );
    return row && artifactRef.parse(JSON.parse(text(row, 'artifact_json')));
  }

  saveCapture(folder: string, signature: string, artifact: ArtifactRef): void {
    this.#database.run(
      `insert into captures (folder, signature, artifact_json) values (?, ?, ?)
       on conflict do update set signature = excluded.signature, artifact_json = excluded.artifact_json`,
      folder,
      signature,
      JSON.stringify(artifact),
    );
  }
}

function toResult(row: Row): StoredResult {
  return { id: number(row, 'id'), outputs: outputList.parse(JSON.parse(text(row, 'outputs_json'))) };
}

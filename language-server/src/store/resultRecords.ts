import * as z from 'zod/mini';
import { artifactRef, type ArtifactRef } from '../../../protocol/src/artifacts.ts';
import { portType } from '../../../protocol/src/manifests.ts';
import { number, text, type Database, type Row } from './database.ts';

/** A file or folder that a card wrote to one of its outputs. */
export const storedOutput = z.strictObject({ port: z.string(), type: portType, artifact: artifactRef });
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

  constructor(database: Database) {
    this.#database = database;
  }

  /** The latest result for this key. */
  find(key: string): StoredResult | undefined {
    const row = this.#database.get(
      'select id, outputs_json from results where key = ? order by id desc limit 1',
      key,
    );
    return row && toResult(row);
  }

  byId(id: number): StoredResult | undefined {
    const row = this.#database.get('select id, outputs_json from results where id = ?', id);
    return row && toResult(row);
  }

  add(key: string, outputs: readonly StoredOutput[]): number {
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

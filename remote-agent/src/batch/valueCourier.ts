import { errorMessage, UserError } from '../../../protocol/src/errors.ts';
import type { ReleasedValue } from '../../../protocol/src/vault.ts';
import type { BatchFolder, JobKey } from './batchFolder.ts';

/** Asks the engine for the values of a job, sealed to its key. Aborted where the job wants none any more. */
export type AskValues = (
  jobId: string,
  key: JobKey,
  signal: AbortSignal,
) => Promise<readonly ReleasedValue[]>;

export interface ValueCourierOptions {
  readonly folder: BatchFolder;
  readonly ask: AskValues;
  readonly onProblem: (doing: string, error: unknown) => void;
}

/** Brings vault values to jobs that have started: from the engine, sealed, into the shared folder. */
export class ValueCourier {
  readonly #options: ValueCourierOptions;
  /** The key with which each job was asked for by this connection. */
  readonly #asked = new Map<string, { readonly publicKey: string; readonly abort: AbortController }>();

  constructor(options: ValueCourierOptions) {
    this.#options = options;
  }

  /** Asks once for each key that a job has told, and no longer than it waits. `files` are the names in its folder. */
  look(jobId: string, files: ReadonlySet<string>): void {
    const asked = this.#asked.get(jobId);
    if (!files.has(`${jobId}.key`)) {
      asked?.abort.abort();
      this.#asked.delete(jobId);
      return;
    }
    const { folder, onProblem } = this.#options;
    try {
      const key = folder.keyOf(jobId);
      if (!key || asked?.publicKey === key.publicKey) return;
      asked?.abort.abort();
      const abort = new AbortController();
      this.#asked.set(jobId, { publicKey: key.publicKey, abort });
      if (folder.valuesOf(jobId)?.publicKey === key.publicKey) return;
      this.#bring(jobId, key, abort.signal).catch((error: unknown) =>
        onProblem('bring values to a job', error),
      );
    } catch (error) {
      // Told once: it is looked at again and again.
      if (!asked) onProblem('read the key of a job', error);
      asked?.abort.abort();
      this.#asked.set(jobId, { publicKey: '', abort: new AbortController() });
    }
  }

  async #bring(jobId: string, key: JobKey, signal: AbortSignal): Promise<void> {
    const { folder, ask } = this.#options;
    const { publicKey } = key;
    try {
      const values = [...(await ask(jobId, key, signal))];
      if (!signal.aborted) folder.writeValues(jobId, { kind: 'released', publicKey, values });
    } catch (error) {
      // Nobody has answered, or who has is not the one to: the next connection asks again.
      if (signal.aborted || (error instanceof UserError && unanswered.has(error.code))) return;
      const remedy = error instanceof UserError ? error.data['remedy'] : undefined;
      folder.writeValues(jobId, {
        kind: 'refused',
        publicKey,
        detail: errorMessage(error),
        ...(typeof remedy === 'string' ? { remedy } : {}),
      });
    }
  }
}

const unanswered: ReadonlySet<string> = new Set(['closed', 'cancelled', 'timeout', 'not-found']);

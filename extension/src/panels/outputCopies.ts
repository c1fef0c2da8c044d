import { copyFile, chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Disposable } from '../disposable.ts';
import type { Engine } from '../engine.ts';
import { extensionOf, type OutputRef } from './outputFile.ts';

/**
 * Copies of outputs for editors to open, read-only: the stored blob is named by its content and must never be edited.
 * Disposing removes them.
 */
export class OutputCopies implements Disposable {
  readonly #engine: Engine;
  #folder: Promise<string> | undefined;
  #count = 0;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /** The path of a fresh copy. Ids of cards and ports are single path components by their format. */
  async copy(card: string, output: OutputRef): Promise<string> {
    const { path } = await this.#engine.call('artifact/locate', { digest: output.artifact.digest });
    this.#folder ??= mkdtemp(join(tmpdir(), 'sallyport-results-'));
    const name = `${card}-${output.port}-${++this.#count}${extensionOf(output.type)}`;
    const target = join(await this.#folder, name);
    await copyFile(path, target);
    await chmod(target, 0o444);
    return target;
  }

  dispose(): void {
    const folder = this.#folder;
    this.#folder = undefined;
    void folder?.then((path) => rm(path, { recursive: true, force: true })).catch(() => undefined);
  }
}

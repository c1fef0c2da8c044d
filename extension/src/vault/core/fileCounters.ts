import { randomBytes } from 'node:crypto';
import { headText, parseHead, type CounterStore, type KnownHead } from './counterStore.ts';
import { nodeFiles, readWhole, unlinkIfThere, withFile, writeWhole, type VaultFiles } from './vaultFiles.ts';

/**
 * Counters in a folder beside the vaults, a file for each: for the command line, which can't ask VS Code's secret storage.
 * It notices a vault that was put back by itself. Whoever puts back both, or removes the file, is not noticed. The disk is
 * not waited for: what a power failure takes leaves an older counter, or none.
 */
export class FileCounters implements CounterStore {
  readonly #folder: string;
  readonly #files: VaultFiles;

  constructor(folder: string, files: VaultFiles = nodeFiles) {
    this.#folder = folder;
    this.#files = files;
  }

  /** Rejects where there is a file that can't be read, or is none of these. */
  async read(vaultId: string): Promise<KnownHead | undefined> {
    const bytes = readWhole(this.#files, this.#path(vaultId), limitBytes);
    if (!bytes || bytes.length === 0) return undefined;
    const head = parseHead(bytes.toString('latin1').trimEnd());
    if (!head) throw new Error('The counter’s file is malformed');
    return head;
  }

  async write(vaultId: string, head: KnownHead): Promise<void> {
    const files = this.#files;
    const path = this.#path(vaultId);
    const temporary = `${path}.${randomBytes(6).toString('hex')}`;
    files.mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    try {
      withFile(files, temporary, 'wx', (handle) =>
        writeWhole(files, handle, Buffer.from(`${headText(head)}\n`), 0),
      );
      files.renameSync(temporary, path);
    } catch (error) {
      unlinkIfThere(files, temporary);
      throw error;
    }
  }

  #path(vaultId: string): string {
    if (!/^[0-9a-f]{32}$/.test(vaultId)) throw new Error('Not the id of a vault');
    return `${this.#folder}/${vaultId}`;
  }
}

/** Where the counters for the command line are, in the folder of Sallyport's state. */
export function countersFolder(home: string): string {
  return `${home}/vault-counters`;
}

const limitBytes = 256;

/** Reads from the first place, and keeps in both. The second one is a convenience: its failure changes nothing. */
export function keepTwice(first: CounterStore, second: CounterStore): CounterStore {
  return {
    read: (vaultId) => first.read(vaultId),
    async write(vaultId, head) {
      await second.write(vaultId, head).catch(() => undefined);
      await first.write(vaultId, head);
    },
  };
}

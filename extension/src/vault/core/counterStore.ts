/** How far a vault has come: the counter of its head, and the digest of that head in lower-case hexadecimal. */
export interface KnownHead {
  readonly counter: number;
  readonly digest: string;
}

/**
 * Keeps each vault's counter in a second place, so that putting back a whole older file is noticed. In VS Code it is
 * the secret storage, at the command line a folder beside the vaults; null is a place without one, and then
 * `Vault.isRollbackGuarded` is false.
 */
export interface CounterStore {
  /** Undefined where nothing is kept for this vault. Rejects where the place does not answer. */
  read(vaultId: string): Promise<KnownHead | undefined>;
  write(vaultId: string, head: KnownHead): Promise<void>;
}

/** A head as one line of text. */
export function headText({ counter, digest }: KnownHead): string {
  return `${counter} ${digest}`;
}

/** Undefined for any other text. */
export function parseHead(text: string): KnownHead | undefined {
  const [, counter, digest] = /^([0-9]{1,15}) ([0-9a-f]{64})$/.exec(text) ?? [];
  return counter !== undefined && digest !== undefined ? { counter: Number(counter), digest } : undefined;
}

import { chmodSync, lchownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A fresh folder for each test of the suite that calls this, removed afterwards. Returns its path. */
export function useTemporaryFolder(): () => string {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'sallyport-unit-'));
  });
  afterEach(() => {
    openUp(folder);
    rmSync(folder, { recursive: true, force: true });
  });
  return () => folder;
}

const nobody = 65_534;

/** Runs `act` without root's rights where this process has them, as the owner of all that is in `folder`. */
export async function asOrdinaryUser(folder: string, act: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return act();
  for (const path of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })]) {
    lchownSync(join(folder, path), nobody, nobody);
  }
  process.seteuid?.(nobody);
  try {
    await act();
  } finally {
    process.seteuid?.(0);
  }
}

/** Tests leave folders that nobody may list; only root removes those as they are. */
function openUp(folder: string): void {
  if (process.getuid?.() === 0) return;
  chmodSync(folder, 0o700);
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    if (entry.isDirectory()) openUp(join(folder, entry.name));
  }
}

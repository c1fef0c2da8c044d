import type { LockedPackage } from './lockFile.ts';

/** Files of packages, by their path below the app: `node_modules/…`. */
export interface PackageFiles {
  has(path: string): boolean;
  /** Throws `not-found`. */
  read(path: string): Uint8Array;
}

/** Brings packages, each checked against its digest. Nothing of them is run. */
export type FetchPackages = (
  packages: readonly LockedPackage[],
  onProgress: (text: string) => void,
  signal: AbortSignal,
) => Promise<PackageFiles>;

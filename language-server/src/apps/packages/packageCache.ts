import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { toFileError } from '../../../../remote-agent/src/files/fileError.ts';

/** Archives of packages, each under the SHA-512 of its bytes. */
export interface PackageCache {
  /** The bytes that this Subresource Integrity value names, checked; undefined where there are none. */
  read(integrity: string): Uint8Array | undefined;
  /** Keeps bytes that `hasIntegrity` holds for. */
  keep(integrity: string, bytes: Uint8Array): void;
}

/** Opens the cache in an absolute folder, made on first need. */
export function createPackageCache(folder: string): PackageCache {
  const pathOf = (integrity: string) => join(folder, `${expectedDigest(integrity).toString('hex')}.tgz`);
  return {
    read(integrity) {
      try {
        const bytes = readFileSync(pathOf(integrity));
        return hasIntegrity(bytes, integrity) ? bytes : undefined;
      } catch {
        return undefined;
      }
    },
    keep(integrity, bytes) {
      const path = pathOf(integrity);
      const beside = `${path}.${randomBytes(6).toString('hex')}.part`;
      try {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        writeFileSync(beside, bytes, { mode: 0o600, flag: 'wx' });
        renameSync(beside, path);
      } catch (error) {
        rmSync(beside, { force: true });
        throw toFileError(error, 'write', path);
      }
    },
  };
}

/** True where these bytes are what a Subresource Integrity value (W3C) with one SHA-512 names. */
export function hasIntegrity(bytes: Uint8Array, integrity: string): boolean {
  const expected = expectedDigest(integrity);
  const actual = createHash('sha512').update(bytes).digest();
  return expected.length === actual.length && timingSafeEqual(expected, actual);
}

function expectedDigest(integrity: string): Buffer {
  return Buffer.from(integrity.replace(/^sha512-/, ''), 'base64');
}

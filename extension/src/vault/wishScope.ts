import { createHash } from 'node:crypto';

/**
 * What a grant that answers a plugin's wish is bound to: the installation (`app:ID`) and exactly this wish, by the key
 * of its permission. A wish that an update changes has another scope, and no grant.
 */
export function wishScope(installation: string, key: string): string {
  return `${installation}:${createHash('sha256').update(key, 'utf8').digest('hex')}`;
}

/** True for a scope of `wishScope`. */
export function isWishScope(scope: string): boolean {
  return /^app:[^:]*:[0-9a-f]{64}$/.test(scope);
}

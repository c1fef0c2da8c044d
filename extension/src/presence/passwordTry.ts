import { noFailures, oneMore, waitMs } from './backOff.ts';
import type { FactorStore } from './factorStore.ts';
import { isPassword } from './passwordVerifier.ts';

export type PasswordTry =
  | { readonly kind: 'right' | 'wrong' | 'no-password' }
  /** Nothing was tried. */
  | { readonly kind: 'wait'; readonly waitMs: number };

/**
 * One try of the password. It counts as a failure before it is looked at, so that ending the process in the middle makes
 * no try free; the right password clears the count.
 */
export async function tryPassword(text: string, store: FactorStore, now: () => number): Promise<PasswordTry> {
  const { password } = await store.read();
  if (!password) return { kind: 'no-password' };
  let left = 0;
  const counted = await store.update((before) => {
    const at = now();
    left = waitMs(before.failures, at);
    return left > 0 ? undefined : { ...before, failures: oneMore(before.failures, at) };
  });
  if (!counted) return { kind: 'wait', waitMs: left };
  if (!(await isPassword(text, password))) return { kind: 'wrong' };
  await store.update((before) => ({ ...before, failures: noFailures }));
  return { kind: 'right' };
}

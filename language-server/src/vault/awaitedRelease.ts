import * as z from 'zod/mini';
import { permission } from '../../../protocol/src/permissions.ts';
import { awaitedValues } from '../../../protocol/src/runner.ts';
import { vaultWish } from '../../../protocol/src/vault.ts';

/**
 * What is needed to ask for the vault values of a job that tells its key only when it has started. It is kept with the
 * job, so that the next engine can answer as well.
 */
export const awaitedRelease = z.strictObject({
  ...awaitedValues.shape,
  root: z.string(),
  card: z.string(),
  /** What the card asked for when it was frozen: all of it must still be accepted. */
  asked: z.array(permission),
  wishes: z.array(vaultWish),
});
export type AwaitedRelease = z.infer<typeof awaitedRelease>;

/** How long a job waits for its values: long enough to unlock a vault, short enough for a node to stand idle. */
export const valueWaitSeconds = 10 * 60;

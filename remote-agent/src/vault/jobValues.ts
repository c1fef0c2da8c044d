import { UserError } from '../../../protocol/src/errors.ts';
import { createScrubber, type Scrubber } from '../../../protocol/src/scrub/scrubber.ts';
import type { ReleasedValue } from '../../../protocol/src/vault.ts';
import { mostDescriptors } from '../../../protocol/src/vaultUse.ts';
import { targetsOf, valueFault, type Injection } from './injection.ts';
import type { RecipientKey } from './openValue.ts';

/** The opened values of one job. They are in the memory of the runner as long as the job runs. */
export interface JobValues {
  readonly injections: readonly Injection[];
  /** For the card itself: what it can read. */
  readonly environment: Readonly<Record<string, string>>;
  /** Each is read from a descriptor whose number is in the variable `name`. */
  readonly descriptors: readonly { readonly name: string; readonly value: string }[];
  readonly scrubber: Scrubber;
}

export const noValues: JobValues = {
  injections: [],
  environment: {},
  descriptors: [],
  scrubber: createScrubber([]),
};

/**
 * Opens the values of a job and checks that each can be used as it is granted, and kept out of what the job says. Throws
 * `bad-message` with the reason: a job never runs without one of its values.
 */
export function openJobValues(
  key: RecipientKey,
  jobId: string,
  released: readonly ReleasedValue[],
): JobValues {
  if (released.length === 0) return noValues;
  key.begin(jobId);
  const injections: Injection[] = [];
  const environment: Record<string, string> = {};
  const descriptors: { name: string; value: string }[] = [];
  const values = new Set<string>();
  for (const each of released) {
    const { item, field, use } = each.wish;
    const label = `${item}.${field}`;
    const bytes = key.open(jobId, each);
    const value = bytes.toString('utf8');
    bytes.fill(0);
    const fault = valueFault(use, value);
    if (fault !== undefined)
      throw new UserError('bad-message', `The value ${label} ${fault}`, { item, field });
    values.add(value);
    switch (use.kind) {
      case 'env':
        environment[use.name] = value;
        break;
      case 'fd':
        descriptors.push({ name: use.name, value });
        break;
      case 'sshSignature':
        throw new UserError('bad-message', 'No card can be given a signature', { item, field });
      default:
        injections.push({ label, use, value, targets: targetsOf(use) });
    }
  }
  if (descriptors.length > mostDescriptors) {
    throw new UserError('bad-message', `A card gets at most ${mostDescriptors} values from descriptors`);
  }
  return { injections, environment, descriptors, scrubber: createScrubber([...values]) };
}

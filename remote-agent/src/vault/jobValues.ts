import { UserError } from '../../../protocol/src/errors.ts';
import { createScrubber, tooShort, type Scrubber } from '../../../protocol/src/scrub/scrubber.ts';
import type { ReleasedValue, VaultUse } from '../../../protocol/src/vault.ts';
import { isFramingHeader, mostDescriptors } from '../../../protocol/src/vaultUse.ts';
import { parseTarget, type Target } from '../egressRules.ts';
import type { RecipientKey } from './openValue.ts';

/** A value that the egress proxy puts into requests, and where to. */
export interface Injection {
  /** `item.field`, for the egress log. */
  readonly label: string;
  readonly use: Extract<VaultUse, { hosts: readonly string[] }>;
  readonly value: string;
  readonly targets: readonly Target[];
}

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
        injections.push({ label, use, value, targets: use.hosts.map(targetOf) });
    }
  }
  if (descriptors.length > mostDescriptors) {
    throw new UserError('bad-message', `A card gets at most ${mostDescriptors} values from descriptors`);
  }
  return { injections, environment, descriptors, scrubber: createScrubber([...values]) };
}

/** Why a value can't be used in this way; the sentence goes on from its name. */
function valueFault(use: VaultUse, value: string): string | undefined {
  if (tooShort([value]).length > 0) {
    return 'is shorter than six characters, so it could not be kept out of logs';
  }
  if (value.includes('\0')) return 'holds a NUL, which no program can be given';
  if (use.kind === 'header' && !/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value)) {
    return 'holds line breaks or characters that no header can carry';
  }
  if (use.kind === 'header' && isFramingHeader(use.name)) return `can’t be sent in the header ${use.name}`;
  return undefined;
}

/** A host without a port is its TLS port: a value goes nowhere else by itself. */
function targetOf(host: string): Target {
  const target = parseTarget(host, 443);
  if (!target)
    throw new UserError('bad-message', `Not a host that a value can be sent to: ${host}`, { host });
  return target;
}

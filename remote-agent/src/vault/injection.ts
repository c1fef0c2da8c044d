import { UserError } from '../../../protocol/src/errors.ts';
import { tooShort } from '../../../protocol/src/scrub/scrubber.ts';
import type { VaultUse } from '../../../protocol/src/vault.ts';
import { isFramingHeader } from '../../../protocol/src/vaultUse.ts';
import { closedAddress } from '../egressAddresses.ts';
import { parseTarget, type Target } from '../egressRules.ts';

/** A use that is put into requests, for the hosts that it names. */
export type RequestUse = Extract<VaultUse, { hosts: readonly string[] }>;

/** A value that is put into requests, and where to. */
export interface Injection {
  /** `item.field`, for the egress log. */
  readonly label: string;
  readonly use: RequestUse;
  readonly value: string;
  readonly targets: readonly Target[];
}

/** The targets of a use. Throws `bad-message` where one of its hosts is none. */
export function targetsOf({ hosts }: RequestUse): Target[] {
  return hosts.map((host) => {
    // A host without a port is its TLS port: a value goes nowhere else by itself.
    const target = parseTarget(host, 443);
    if (!target)
      throw new UserError('bad-message', `Not a host that a value can be sent to: ${host}`, { host });
    return target;
  });
}

/** True where one of `targets` is exactly this host and port. */
export function isAmong(targets: readonly Target[], target: Target): boolean {
  return targets.some(
    ({ host, port, isAddress }) =>
      host === target.host && port === target.port && isAddress === target.isAddress,
  );
}

/** Plain HTTP carries a value only where nobody but this machine hears it. */
export function isLoopback({ host, isAddress }: Target): boolean {
  return isAddress ? closedAddress(host) === 'loopback' : host === 'localhost';
}

/** Why a value can't be used in this way; the sentence goes on from its name. */
export function valueFault(use: VaultUse, value: string): string | undefined {
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

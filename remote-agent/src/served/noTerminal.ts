import { UserError } from '../../../protocol/src/errors.ts';

/** Answers `terminal/offer` where there is none. Throws `not-found`. */
export function noTerminal(): never {
  throw new UserError('not-found', 'Terminals are opened in VMs only');
}

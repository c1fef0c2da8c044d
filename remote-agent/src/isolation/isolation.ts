import type { IsolationReport } from '../../../protocol/src/runner.ts';
import type { PreparedSandbox, SandboxRequest } from './bubblewrapSandboxes.ts';

/** A kind of sandbox that passed its probe. */
export interface Isolation {
  readonly kind: 'bubblewrap' | 'seatbelt';
  /** Starts a sandbox around fresh folders under `folder`. Rejects rather than leave anything out. */
  open(request: SandboxRequest, folder: string): Promise<PreparedSandbox>;
}

/** What the probe found: an isolation, or none and why. `report` says the same to a person. */
export interface Probed {
  readonly isolation: Isolation | undefined;
  readonly report: Omit<IsolationReport, 'limits'>;
}

/** What a person can do, in one text: the remedies of all checks that failed. */
export function remediesOf(report: Pick<IsolationReport, 'checks'>): string {
  const remedies = report.checks.flatMap((check) => (check.ok || !check.remedy ? [] : [check.remedy]));
  return [...new Set(remedies)].join(' ');
}

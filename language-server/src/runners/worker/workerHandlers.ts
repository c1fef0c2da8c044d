import type { RequestHandlers } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { workerRequests } from '../../../../protocol/src/pinnedWorker.ts';
import { parseInvitation } from '../../../../remote-agent/src/worker/invitation.ts';
import type { IdentitySigner } from '../../../../remote-agent/src/worker/leaf.ts';
import type { KnownWorkers } from './knownWorkers.ts';
import { enrolAtWorker } from './workerTransport.ts';

export interface WorkerHandlerOptions {
  readonly known: () => KnownWorkers;
  readonly identity: () => Promise<IdentitySigner>;
  /** Lets go of a place, so that it is made anew. */
  readonly drop: (place: string) => Promise<void>;
  readonly now: () => number;
}

/** Enrols at workers and forgets them. */
export function createWorkerHandlers(options: WorkerHandlerOptions): RequestHandlers<typeof workerRequests> {
  return {
    'worker/list': () => options.known().list(),
    'worker/enrol': async ({ name, code, as }) => {
      const known = options.known();
      known.assertFree(name);
      const invitation = parseInvitation(code);
      if (!invitation) {
        throw new UserError('bad-message', 'This is no invitation of a worker', {
          remedy: 'Paste the whole line that begins with sallyport-worker://',
        });
      }
      const worker = await enrolAtWorker(invitation, as, await options.identity(), options.now);
      await options.drop(`worker:${name}`);
      return known.add(name, worker);
    },
    'worker/forget': async ({ name }) => {
      await options.drop(`worker:${name}`);
      return { found: options.known().forget(name) };
    },
  };
}

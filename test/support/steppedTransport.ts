import type { Transport } from '../../protocol/src/channel.ts';
import type { RunnerTransport } from '../../language-server/src/runners/places/runnerTransport.ts';

/** The steps of a job elsewhere, as the engine's side of the connection sees them. */
export const jobSteps = ['sending', 'accepted', 'started', 'ended', 'fetching', 'settled'] as const;
export type JobStep = (typeof jobSteps)[number];

/**
 * A transport that tells when a job comes to a step, before anyone else learns of it. `sending` is the moment before
 * the job goes out after its blobs have, `fetching` the arrival of the first bytes of its outputs. `settled` is the
 * caller's to tell.
 */
export function steppedTransport(inner: RunnerTransport, at: (step: JobStep) => void): RunnerTransport {
  let copies = 0;
  let hasEnded = false;
  return {
    place: inner.place,
    dispose: () => inner.dispose(),
    async open(options) {
      const link = await inner.open(options);
      const control: Transport = {
        close: () => link.control.close(),
        send: (message, transfer) => {
          if (copies > 0 && methodOf(message) === 'job/submit') at('sending');
          link.control.send(message, transfer);
        },
        start: (onMessage, onClose) =>
          link.control.start((message) => {
            const step = stepOf(message);
            if (step === 'ended') hasEnded = true;
            if (step) at(step);
            onMessage(message);
          }, onClose),
      };
      return {
        control,
        close: () => link.close(),
        async openBulk() {
          copies += 1;
          const stream = await link.openBulk();
          if (hasEnded) stream.once('readable', () => at('fetching'));
          return stream;
        },
      };
    },
  };
}

function stepOf(message: unknown): JobStep | undefined {
  const { result, params } = message as {
    result?: { kind?: unknown };
    params?: { event?: { kind?: unknown } };
  };
  if (result?.kind === 'accepted') return 'accepted';
  const kind = params?.event?.kind;
  return kind === 'started' || kind === 'ended' ? kind : undefined;
}

function methodOf(message: unknown): unknown {
  return (message as { method?: unknown }).method;
}

import type { Duplex } from 'node:stream';
import { UserError } from '../../../protocol/src/errors.ts';
import { servedProtocolVersion, streamOpenings } from '../../../protocol/src/servedRunner.ts';
import { StdioTransport } from '../stdioTransport.ts';
import { ByteReader } from '../files/byteReader.ts';
import { readFirstLine } from '../files/firstLine.ts';
import { noTerminal } from './noTerminal.ts';
import { serveBulk } from './serveBulk.ts';
import type { ServedRunner } from './servedRunner.ts';
import {
  missingOf,
  serveMessages,
  submitAnswer,
  type ServedHandlers,
  type ServedMessages,
} from './serveMessages.ts';

/** Reads how a stream begins and serves it as that. Settles when it has ended; anything that is not ours is closed. */
export async function serveConnection(
  socket: Duplex,
  runner: ServedRunner,
  onProblem: (doing: string, error: unknown) => void,
  offerTerminal: OfferTerminal = noTerminal,
): Promise<void> {
  socket.on('error', () => undefined);
  try {
    const opening = `${await readFirstLine(socket, longestOpening, openingMs)}\n`;
    if (opening === streamOpenings.bulk) await serveBulk(socket, new ByteReader(socket), runner.store);
    else if (opening === streamOpenings.control) {
      await serveControl(socket, runner, onProblem, offerTerminal);
      return;
    } else throw new Error('it does not begin like a stream of Sallyport');
    socket.end();
  } catch (error) {
    onProblem('serve a connection', error);
    socket.destroy();
  }
}

const openingMs = 30_000;
const longestOpening = 64;

async function serveControl(
  socket: Duplex,
  runner: ServedRunner,
  onProblem: (doing: string, error: unknown) => void,
  offerTerminal: OfferTerminal,
): Promise<void> {
  const transport = new StdioTransport(socket, socket);
  let greeted: { readonly engine: string; readonly leaseSeconds: number } | undefined;
  /** Who asks; also its heartbeat. */
  const engine = () => {
    if (!greeted) throw new UserError('bad-message', 'The runner was not greeted yet');
    runner.leases.renew(greeted.engine, greeted.leaseSeconds);
    return greeted.engine;
  };
  const follow = (jobId: string, afterSeq: number) =>
    runner.jobs.follow(
      jobId,
      engine(),
      afterSeq,
      (seq, event) => messages.channel.notify('job/event', { jobId, seq, event }),
      transport,
      messages.gone,
    );
  const handlers: ServedHandlers = {
    'runner/greet': async ({ protocol, engine: id, leaseSeconds }) => {
      if (protocol !== servedProtocolVersion) throw incompatible(protocol);
      greeted = { engine: id, leaseSeconds };
      runner.leases.renew(id, leaseSeconds);
      const { version, platform, node, isolation, interpreters, vaultKey } = await runner.greeting();
      return {
        protocol: servedProtocolVersion,
        version,
        instance: runner.instance(),
        platform,
        node,
        isolation,
        interpreters,
        ...(vaultKey === undefined ? {} : { vaultKey }),
        parallel: runner.parallel,
        freeBytes: runner.freeBytes(),
      };
    },
    'lease/renew': () => ({ leaseMs: runner.leases.left(engine()) }),
    'runner/probe': () => (engine(), runner.probe()),
    'blob/missing': ({ blobs }) => {
      engine();
      return missingOf(runner.store, blobs);
    },
    'job/submit': async ({ job, afterSeq }) => {
      const id = engine();
      const missing = await runner.jobs.submit(job, id, greeted?.leaseSeconds ?? 1);
      return submitAnswer(missing, () => {
        // Another connection of the engine may have had it forgotten by now.
        if (!messages.gone.aborted && runner.jobs.has(job.jobId)) follow(job.jobId, afterSeq);
      });
    },
    'job/attach': ({ jobId, afterSeq }) => ({ state: follow(jobId, afterSeq) }),
    'job/cancel': ({ jobId }) => ({ found: runner.jobs.cancel(jobId, engine()) }),
    'job/forget': async ({ jobId }) => ({ found: await runner.jobs.forget(jobId, engine()) }),
    'terminal/offer': ({ clientKey }) => (engine(), { hostKey: offerTerminal(clientKey) }),
    'journal/list': () => {
      const id = engine();
      return runner.jobs.list(id, runner.leases.left(id));
    },
    'blob/clean': ({ keepBytes }) => (engine(), runner.clean(keepBytes)),
  };
  const messages: ServedMessages = serveMessages(transport, handlers, onProblem);
  await messages.closed;
  socket.destroy();
}

type OfferTerminal = (clientKey: string) => string;

function incompatible(theirs: number): UserError {
  const older = theirs < servedProtocolVersion;
  return new UserError(
    'incompatible',
    `The runner there speaks version ${servedProtocolVersion} of its language, this Sallyport version ${theirs}`,
    {
      remedy: older
        ? 'Update Sallyport here; a newer one was used with this place.'
        : 'The runner there is from an older Sallyport and ends when its last job has; try again then, or end those jobs with the Sallyport that started them.',
    },
  );
}

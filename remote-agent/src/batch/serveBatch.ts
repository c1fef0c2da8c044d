import { randomBytes } from 'node:crypto';
import { statfsSync } from 'node:fs';
import { UserError } from '../../../protocol/src/errors.ts';
import { limits } from '../../../protocol/src/limits.ts';
import { servedProtocolVersion } from '../../../protocol/src/servedRunner.ts';
import { createBlobStore } from '../files/blobStore.ts';
import { cleanBlobs } from '../served/cleanBlobs.ts';
import { blobsOf } from '../served/blobNeeds.ts';
import { noTerminal } from '../served/noTerminal.ts';
import {
  missingOf,
  serveMessages,
  submitAnswer,
  type ServedHandlers,
  type ServedMessages,
} from '../served/serveMessages.ts';
import type { StdioTransport } from '../stdioTransport.ts';
import type { BatchFolder, NodeFacts } from './batchFolder.ts';
import { BatchJobs, type BatchTimes } from './batchJobs.ts';
import type { BatchSystem } from './batchSystem.ts';

export interface ServeBatchOptions {
  readonly transport: StdioTransport;
  readonly folder: BatchFolder;
  readonly system: BatchSystem;
  readonly facts: NodeFacts;
  readonly largest: number;
  readonly script: (name: string) => string;
  readonly times: BatchTimes;
  readonly now: () => number;
  readonly probe: () => Promise<NodeFacts>;
  readonly onProblem: (doing: string, error: unknown) => void;
}

/** Jobs that one engine may have in the queue or running: a queue is there to be long. */
const parallel = 500;
/** Nothing ends a job in a queue because its engine is silent; its own time limit does. */
const leaseMs = 7 * 24 * 60 * 60 * 1000;
/** A connection that was given up brings no job after so long, and what keeps late ones from running may go. */
const lateMs = 7 * 24 * 60 * 60 * 1000;

/**
 * Answers one engine as a served runner does (protocol/src/servedRunner.ts), with a batch system in place of this
 * machine, until the connection ends. Settles when no request to the batch system is on its way any more.
 */
export async function serveBatch(options: ServeBatchOptions): Promise<void> {
  const { transport, folder, system, largest, script, times, now, probe, onProblem } = options;
  let { facts } = options;
  const store = createBlobStore(folder.blobs);
  const instance = randomBytes(12).toString('hex');
  let greeted: BatchJobs | undefined;
  const jobs = () => {
    if (!greeted) throw new UserError('bad-message', 'The runner was not greeted yet');
    return greeted;
  };
  const follow = (jobId: string, afterSeq: number) =>
    jobs().follow(
      jobId,
      {
        afterSeq,
        tell: (seq, event) => messages.channel.notify('job/event', { jobId, seq, event }),
        flow: transport,
      },
      messages.gone,
    );
  const clean = (keepBytes: number) => {
    const needed = folder.submitNames().flatMap((name) => folder.readSubmit(name)?.jobs ?? []);
    folder.removeClaims(new Set(needed.map(({ jobId }) => jobId)), now() - lateMs);
    const used = needed.flatMap((job) => [...blobsOf(store, job, folder.resultOf(job.jobId)?.result)]);
    return cleanBlobs(store, new Set(used), keepBytes, now());
  };
  const handlers: ServedHandlers = {
    'runner/greet': ({ protocol, engine }) => {
      if (protocol !== servedProtocolVersion)
        throw new UserError(
          'incompatible',
          `The runner there speaks version ${servedProtocolVersion}, this Sallyport version ${protocol}`,
          { remedy: 'Reload the window after an update.' },
        );
      if (greeted) throw new UserError('conflict', 'The runner was greeted before');
      const { platform, interpreters, version, node, isolation } = facts;
      const expects = { platform, interpreters };
      greeted = new BatchJobs({
        folder,
        store,
        system,
        engine,
        expects,
        largest,
        script,
        times,
        now,
        askValues: async (jobId, { publicKey, proof }, signal) =>
          (await messages.channel.call('job/values', { jobId, publicKey, proof }, { signal })).values,
        onProblem,
      });
      try {
        clean(limits.blobStoreBytes);
      } catch (error) {
        // A list of jobs that can't be read may need any blob: then none is removed.
        onProblem('remove what nobody needs', error);
      }
      const { bavail, bsize } = statfsSync(folder.path);
      return {
        protocol: servedProtocolVersion,
        version,
        instance,
        platform,
        node,
        isolation,
        interpreters,
        asksValues: true,
        parallel,
        freeBytes: bavail * bsize,
      };
    },
    'lease/renew': () => (jobs(), { leaseMs }),
    'terminal/offer': noTerminal,
    'runner/probe': async () => {
      jobs();
      facts = await probe();
      return facts.isolation;
    },
    'blob/missing': ({ blobs }) => {
      jobs();
      return missingOf(store, blobs);
    },
    'job/submit': async ({ job, afterSeq }) => {
      const missing = await jobs().submit(job);
      return submitAnswer(missing, () => {
        if (!messages.gone.aborted && jobs().has(job.jobId)) follow(job.jobId, afterSeq);
      });
    },
    'job/attach': ({ jobId, afterSeq }) => ({ state: follow(jobId, afterSeq) }),
    'job/cancel': ({ jobId }) => ({ found: jobs().cancel(jobId) }),
    'job/forget': ({ jobId }) => ({ found: jobs().forget(jobId) }),
    'journal/list': () => jobs().list(),
    'blob/clean': ({ keepBytes }) => (jobs(), clean(keepBytes)),
  };
  const messages: ServedMessages = serveMessages(transport, handlers, onProblem);
  await messages.closed;
  await greeted?.stop();
}

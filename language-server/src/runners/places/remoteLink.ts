import type { Duplex } from 'node:stream';
import type { ArtifactRef } from '../../../../protocol/src/artifacts.ts';
import { Channel } from '../../../../protocol/src/channel.ts';
import type { ParamsOf, ResultOf } from '../../../../protocol/src/contract.ts';
import { UserError } from '../../../../protocol/src/errors.ts';
import {
  servedEvents,
  servedProtocolVersion,
  servedSide,
  type JobEvent,
} from '../../../../protocol/src/servedRunner.ts';
import type { ReleasedValue } from '../../../../protocol/src/vault.ts';
import type { BlobStore, StoredBlob } from '../../../../remote-agent/src/files/blobStore.ts';
import { readTree } from '../../../../remote-agent/src/files/readTree.ts';
import { blobsOfArtifact } from './blobClosure.ts';
import { getBlobs, putBlobs } from './bulkClient.ts';
import type { RunnerLink } from './runnerTransport.ts';

export type Greeting = ResultOf<(typeof servedSide)['requests']['runner/greet']>;
export type ValuesAsked = ParamsOf<(typeof servedEvents)['requests']['job/values']>;
type ServedChannel = Channel<typeof servedEvents, typeof servedSide>;

export interface RemoteLinkOptions {
  readonly link: RunnerLink;
  readonly blobs: BlobStore;
  readonly engine: string;
  readonly leaseSeconds: number;
  /** A job that has started asks for its vault values. */
  readonly onValues: (asked: ValuesAsked, signal: AbortSignal) => Promise<readonly ReleasedValue[]>;
  readonly onEvent: (jobId: string, seq: number, event: JobEvent) => void;
  readonly onClose: (reason: string) => void;
  readonly onProblem: (problem: string) => void;
}

/** A connection to a served runner that has answered: its messages, and blobs both ways by content. */
export class RemoteLink {
  readonly channel: ServedChannel;
  readonly #options: RemoteLinkOptions;
  readonly #uploading = new Map<string, Promise<void>>();
  /** Bytes of blobs that this link has sent. */
  sentBytes = 0;
  greeting!: Greeting;

  private constructor(options: RemoteLinkOptions) {
    this.#options = options;
    this.channel = new Channel(options.link.control, servedSide, {
      local: servedEvents,
      requestHandlers: {
        'job/values': async (asked, signal) => ({ values: [...(await options.onValues(asked, signal))] }),
      },
      notificationHandlers: {
        'job/event': ({ jobId, seq, event }) => options.onEvent(jobId, seq, event),
      },
      onBadMessage: (method, problem) =>
        options.onProblem(`The runner there sent a bad ${method}: ${problem}`),
      onClose: (reason) => options.onClose(reason),
    });
  }

  /** Greets the runner. Throws `incompatible` in its words, `closed`, `timeout`; the link is closed then. */
  static async open(options: RemoteLinkOptions): Promise<RemoteLink> {
    const opened = new RemoteLink(options);
    try {
      opened.greeting = await opened.channel.call(
        'runner/greet',
        { protocol: servedProtocolVersion, engine: options.engine, leaseSeconds: options.leaseSeconds },
        { timeoutMs: greetingMs },
      );
      return opened;
    } catch (error) {
      opened.close('it did not greet');
      throw error;
    }
  }

  close(reason = 'closed by this side'): void {
    this.channel.close(reason);
    this.#options.link.close();
  }

  /** A byte stream to the SSH server that `terminal/offer` has readied. Throws `not-found` where the way leads to none. */
  openTerminal(): Promise<Duplex> {
    const { link } = this.#options;
    if (link.openTerminal) return link.openTerminal();
    return Promise.reject(new UserError('not-found', 'This place has no terminal'));
  }

  /** Sends those of the blobs that are not over there; each travels once, however many jobs wait for it. */
  async put(blobs: readonly StoredBlob[]): Promise<void> {
    const waited: Promise<void>[] = [];
    const own: StoredBlob[] = [];
    for (const blob of await this.#missing(blobs)) {
      const other = this.#uploading.get(blob.digest);
      if (other) waited.push(other);
      else own.push(blob);
    }
    if (own.length > 0) {
      const done = this.#putOwn(own);
      done.catch(() => undefined);
      for (const { digest } of own) this.#uploading.set(digest, done);
      try {
        await done;
      } finally {
        for (const { digest } of own) this.#uploading.delete(digest);
      }
    }
    await Promise.all(waited);
  }

  /**
   * Fetches what is not here of a job's outputs. Sizes are held against `limitBytes` before anything is taken, and
   * every byte against its digest. Throws `too-large`, `store-damaged`, `disk-full`, `closed`.
   */
  async fetch(artifacts: readonly ArtifactRef[], limitBytes: number): Promise<void> {
    const { blobs } = this.#options;
    const total = artifacts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0);
    if (total > limitBytes)
      throw new UserError(
        'too-large',
        `The outputs are said to have ${total} bytes, of ${limitBytes} allowed`,
      );
    const listings = artifacts.filter(({ kind, digest }) => kind === 'directory' && !blobs.has(digest));
    await this.#getListings(listings);
    for (const artifact of artifacts) {
      if (artifact.kind !== 'directory') continue;
      const entries = readTree(blobs, artifact).entries.filter((entry) => entry.kind === 'file');
      const sizeBytes = entries.reduce((sum, entry) => sum + entry.sizeBytes, 0);
      if (sizeBytes !== artifact.sizeBytes || entries.length !== artifact.files)
        throw new UserError('store-damaged', `The listing ${artifact.digest} is not what was said of it`);
    }
    const wanted = new Map<string, StoredBlob>();
    for (const artifact of artifacts)
      for (const blob of blobsOfArtifact(blobs, artifact))
        if (blobs.sizeOf(blob.digest) !== blob.sizeBytes) wanted.set(blob.digest, blob);
    await this.#get([...wanted.values()]);
  }

  async #missing(blobs: readonly StoredBlob[]): Promise<StoredBlob[]> {
    const missing = new Set<string>();
    for (let at = 0; at < blobs.length; at += askedAtOnce) {
      const part = blobs.slice(at, at + askedAtOnce).map(({ digest, sizeBytes }) => ({ digest, sizeBytes }));
      for (const digest of (await this.channel.call('blob/missing', { blobs: part })).missing)
        missing.add(digest);
    }
    return blobs.filter(({ digest }) => missing.has(digest));
  }

  async #putOwn(blobs: readonly StoredBlob[]): Promise<void> {
    await this.#withBulk((stream) =>
      putBlobs(stream, this.#options.blobs, blobs, (bytes) => (this.sentBytes += bytes)),
    );
  }

  async #get(blobs: readonly StoredBlob[]): Promise<void> {
    if (blobs.length === 0) return;
    const { link, blobs: store } = this.#options;
    await this.#withBulk((stream) => getBlobs(stream, store, blobs, link.letGo));
  }

  /** A listing has no size that was told; it is a blob of at most so many bytes. */
  async #getListings(listings: readonly ArtifactRef[]): Promise<void> {
    if (listings.length === 0) return;
    await this.#withBulk((stream) =>
      getBlobs(
        stream,
        this.#options.blobs,
        listings.map(({ digest }) => ({ digest, sizeBytes: 'listing' as const })),
      ),
    );
  }

  async #withBulk<T>(use: (stream: Duplex) => Promise<T>): Promise<T> {
    const stream = await this.#options.link.openBulk();
    stream.on('error', () => undefined);
    try {
      const result = await use(stream);
      stream.end();
      return result;
    } catch (error) {
      stream.destroy();
      throw error;
    }
  }
}

const greetingMs = 60_000;
const askedAtOnce = 50_000;

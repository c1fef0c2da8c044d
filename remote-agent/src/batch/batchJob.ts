import type { JobEvent } from '../../../protocol/src/servedRunner.ts';
import type { JobSpec } from '../../../protocol/src/runner.ts';
import type { Flow } from '../jobLog.ts';
import type { BatchFolder, KeptResult } from './batchFolder.ts';
import { EventReader } from './eventReader.ts';

export interface Listener {
  readonly afterSeq: number;
  readonly tell: (seq: number, event: JobEvent) => void;
  readonly flow: Flow;
}

/** How long the last events of a job may be on their way after its end was seen. */
const lateMs = 10_000;

/** A job of the shared folder as this side follows it. */
export class BatchJob {
  readonly spec: JobSpec;
  readonly name: string;
  readonly index: number;
  isCancelled: boolean;
  /** Its one end, as it is told. */
  ended: KeptResult | undefined;
  /** Since when a result waits for the batch system's reason. */
  reasonSince: number | undefined;
  /** Since when the batch system has not known of it. */
  absentSince: number | undefined;
  readonly #folder: BatchFolder;
  readonly #listeners = new Map<Listener, { reader: EventReader; endSeenAt: number | undefined }>();
  #text = '';

  constructor(folder: BatchFolder, spec: JobSpec, name: string, index: number, isCancelled: boolean) {
    this.#folder = folder;
    this.spec = spec;
    this.name = name;
    this.index = index;
    this.isCancelled = isCancelled;
  }

  get isHeard(): boolean {
    return this.#listeners.size > 0;
  }

  listen(listener: Listener, signal: AbortSignal): void {
    const reader = new EventReader(this.#folder.runFile(`${this.spec.jobId}.events`));
    this.#listeners.set(listener, { reader, endSeenAt: undefined });
    signal.addEventListener('abort', () => this.#listeners.delete(listener), { once: true });
    if (this.#text !== '') listener.tell(0, { kind: 'progress', fraction: 0, text: this.#text });
  }

  /** What a person sees while nothing comes from the job itself; told when it changes. */
  say(text: string, fraction = 0): void {
    if (text === this.#text) return;
    this.#text = text;
    for (const { tell } of this.#listeners.keys()) tell(0, { kind: 'progress', fraction, text });
  }

  /** Tells what is new, and the end after everything else. True where something was told. */
  look(files: ReadonlySet<string>, now: number): boolean {
    const { jobId } = this.spec;
    let isNew = false;
    if (!this.ended && files.has(`${jobId}.progress`)) {
      const progress = this.#folder.progressOf(jobId);
      if (progress) this.say(progress.text, progress.fraction);
    }
    for (const [listener, state] of [...this.#listeners]) {
      if (listener.flow.isCongested) continue;
      const events = files.has(`${jobId}.events`) ? state.reader.read() : [];
      for (const { seq, event } of events) if (seq > listener.afterSeq) listener.tell(seq, event);
      isNew ||= events.length > 0;
      if (!this.ended || events.length > 0) continue;
      state.endSeenAt ??= now;
      if (state.reader.lastSeq < this.ended.lastSeq && now - state.endSeenAt < lateMs) continue;
      this.#listeners.delete(listener);
      const seq = Math.max(state.reader.lastSeq, this.ended.lastSeq) + 1;
      listener.tell(seq, { kind: 'ended', result: this.ended.result });
      isNew = true;
    }
    return isNew;
  }
}

import { createHash } from 'node:crypto';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { HeldJob, PlaceView } from '../../../../protocol/src/places.ts';
import type { JobResult } from '../../../../protocol/src/runner.ts';
import type { CardJob, JobEvents } from '../cardRunner.ts';
import type { PlaceInfo, PlaceRunner, ReadyOptions } from '../places/placeRunner.ts';

/** The place's id. */
export const vmPlace = 'vm';

/** A VM of this engine. */
export interface Vm {
  readonly runner: PlaceRunner;
  /** True while a VM of an earlier engine may run in it: then it holds a project's jobs. */
  readonly project: string | undefined;
  /** Remembers whose VM it is, for engines to come. */
  assign(project: string): void;
  /** Ends the VM with everything in it. */
  stop(): Promise<void>;
  release(): void;
}

export interface VmPlaceOptions {
  readonly memoryMB: number;
  /** A VM of this project from an earlier engine, else a fresh one. Throws `isolation-missing` where there is no image. */
  readonly take: (project: string | undefined) => Vm;
  readonly onChange: (view: PlaceView) => void;
}

/**
 * VMs as one place: each project has one of its own, so that nothing that a card of one project did to its VM meets
 * another project. The one that is asked what cards will find belongs to nobody yet; the first project gets it.
 */
export class VmPlace implements PlaceRunner {
  readonly id = vmPlace;
  readonly #options: VmPlaceOptions;
  readonly #projects = new Map<string, Vm>();
  #spare: Vm | undefined;

  constructor(options: VmPlaceOptions) {
    this.#options = options;
  }

  async ready(options?: ReadyOptions): Promise<PlaceInfo> {
    return this.#any().runner.ready(options);
  }

  async probe() {
    return this.#any().runner.probe();
  }

  view(): PlaceView {
    const views = this.#all().map(({ runner }) => runner.view());
    const shown = views.find(({ state }) => state === 'ready') ?? views[0];
    const closed: PlaceView = {
      id: vmPlace,
      kind: 'vm',
      state: 'closed',
      detail: '',
      remedy: '',
      facts: null,
      running: 0,
      latencyMs: null,
    };
    const running = views.reduce((sum, view) => sum + view.running, 0);
    return shown ? { ...shown, id: vmPlace, kind: 'vm', running } : closed;
  }

  async held(): Promise<HeldJob[]> {
    const lists = await Promise.all(this.#all().map(({ runner }) => runner.held()));
    return lists.flat();
  }

  async release(jobIds: readonly string[] | undefined): Promise<number> {
    const counts = await Promise.all(this.#all().map(({ runner }) => runner.release(jobIds)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  disconnect(): void {
    for (const { runner } of this.#all()) runner.disconnect();
  }

  run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult> {
    const refusal = this.#refusal(job);
    if (refusal) return Promise.resolve(refused(refusal));
    return this.#of(job.project ?? '').runner.run(job, events, signal);
  }

  settled(jobId: string): void {
    for (const { runner } of this.#projects.values()) runner.settled?.(jobId);
  }

  /** VMs without a job end with the engine; others go on, and the next engine finds them. */
  async dispose(): Promise<void> {
    await Promise.all(
      this.#all().map(async (vm) => {
        const isIdle = vm.runner.view().running === 0;
        await vm.runner.dispose();
        if (isIdle) await vm.stop();
        vm.release();
      }),
    );
    this.#projects.clear();
    this.#spare = undefined;
  }

  #all(): Vm[] {
    return [...this.#projects.values(), ...(this.#spare ? [this.#spare] : [])];
  }

  #any(): Vm {
    return this.#all()[0] ?? (this.#spare = this.#options.take(undefined));
  }

  #of(project: string): Vm {
    const key = createHash('sha256').update(project).digest('hex').slice(0, 16);
    const known = this.#projects.get(key);
    if (known) return known;
    const vm = this.#options.take(key);
    const isFresh = vm.project === undefined;
    let chosen = vm;
    if (isFresh && this.#spare) {
      vm.release();
      chosen = this.#spare;
      this.#spare = undefined;
    }
    chosen.assign(key);
    this.#projects.set(key, chosen);
    return chosen;
  }

  /** What a VM has not, it does not pretend to have. */
  #refusal(job: CardJob): UserError | undefined {
    const { access, limits } = job;
    const elsewhere = 'Choose another place for this card.';
    if (access.network.kind !== 'none')
      return new UserError('isolation-missing', 'A VM has no network, and the card asks for one', {
        remedy: elsewhere,
      });
    if (access.hostFolders.length > 0 || access.projectRoot !== undefined)
      return new UserError(
        'isolation-missing',
        'A VM shows no folder of this computer, and the card asks for one',
        {
          remedy: elsewhere,
        },
      );
    const most = this.#options.memoryMB - systemMB;
    if (limits.memoryMB <= most) return undefined;
    return new UserError(
      'isolation-missing',
      `The card may use ${limits.memoryMB} MB, and the VM has ${most}`,
      {
        remedy: 'Lower limits.memoryMB of the card, or choose another place.',
      },
    );
  }
}

/** What the system inside needs for itself. */
const systemMB = 256;

function refused(error: UserError): JobResult {
  const remedy = error.data['remedy'];
  return {
    outcome: {
      kind: 'refused',
      code: 'isolation-missing',
      detail: error.message,
      ...(typeof remedy === 'string' ? { remedy } : {}),
    },
    outputs: {},
    outputProblems: [],
    logBytes: 0,
    logCutBytes: 0,
    waitMs: 0,
    runMs: 0,
    stageMs: 0,
    collectMs: 0,
    isolation: 'none',
  };
}

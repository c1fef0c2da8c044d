import { createHash } from 'node:crypto';
import { UserError } from '../../../../protocol/src/errors.ts';
import type { HeldJob, PlaceView } from '../../../../protocol/src/places.ts';
import { emptyResult, type JobResult } from '../../../../protocol/src/runner.ts';
import type { CardJob, JobEvents } from '../cardRunner.ts';
import type { PlaceInfo, PlaceRunner, ReadyOptions } from '../places/placeRunner.ts';

/** The place's id. */
export const vmPlace = 'vm';

/** A VM of this engine. */
export interface Vm {
  readonly runner: PlaceRunner;
  /** Remembers whose VM it is, for engines to come. */
  assign(project: string): void;
  /** Ends the VM with everything in it. */
  stop(): Promise<void>;
  release(): void;
}

export interface VmPlaceOptions {
  readonly memoryMB: number;
  /** A VM that an earlier engine left with jobs of this project. */
  readonly find: (project: string, network: boolean) => Promise<Vm | undefined>;
  /** A VM of nobody, which starts when it is first needed. Throws `isolation-missing` where there is no image. */
  readonly create: (network: boolean) => Promise<Vm>;
}

/**
 * VMs as one place: each project has one of its own, so that nothing that a card of one project did to its VM meets
 * another project, and a second one with a network for those of its cards that were given one. The one that is asked what cards will find belongs to nobody yet; the first project gets it.
 */
export class VmPlace implements PlaceRunner {
  readonly id = vmPlace;
  readonly #options: VmPlaceOptions;
  readonly #projects = new Map<string, Promise<Vm>>();
  /** Those that were made, in use or spare. */
  readonly #vms = new Set<Vm>();
  #spare: Promise<Vm> | undefined;

  constructor(options: VmPlaceOptions) {
    this.#options = options;
  }

  async ready(options: ReadyOptions = {}): Promise<PlaceInfo> {
    const vm = await (options.project === undefined ? this.#any() : this.#of(options.project, false));
    return vm.runner.ready(options);
  }

  async probe() {
    return (await this.#any()).runner.probe();
  }

  view(): PlaceView {
    const views = [...this.#vms].map(({ runner }) => runner.view());
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
    const lists = await Promise.all([...this.#vms].map(({ runner }) => runner.held()));
    return lists.flat();
  }

  async release(jobIds: readonly string[] | undefined): Promise<number> {
    const counts = await Promise.all([...this.#vms].map(({ runner }) => runner.release(jobIds)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  disconnect(): void {
    for (const { runner } of this.#vms) runner.disconnect();
  }

  async run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult> {
    const refusal = this.#refusal(job);
    if (refusal) return refused(refusal);
    const vm = await this.#of(job.project ?? '', job.access.network.kind !== 'none');
    return vm.runner.run(job, events, signal);
  }

  settled(jobId: string): void {
    for (const { runner } of this.#vms) runner.settled?.(jobId);
  }

  /** VMs without a job end with the engine; others go on, and the next engine finds them. */
  async dispose(): Promise<void> {
    await Promise.all(
      [...this.#vms].map(async (vm) => {
        const isIdle = vm.runner.view().running === 0;
        await vm.runner.dispose();
        if (isIdle) await vm.stop();
        vm.release();
      }),
    );
    this.#projects.clear();
    this.#vms.clear();
    this.#spare = undefined;
  }

  async #any(): Promise<Vm> {
    const [first] = this.#vms;
    return first ?? (this.#spare ??= this.#create());
  }

  async #create(): Promise<Vm> {
    try {
      const vm = await this.#options.create(false);
      this.#vms.add(vm);
      return vm;
    } catch (error) {
      this.#spare = undefined;
      throw error;
    }
  }

  #of(project: string, network: boolean): Promise<Vm> {
    const name = `${network ? 'network' : 'none'} ${project}`;
    const key = createHash('sha256').update(name).digest('hex').slice(0, 16);
    const known = this.#projects.get(key);
    if (known) return known;
    const taken = this.#take(key, network);
    this.#projects.set(key, taken);
    taken.catch(() => this.#projects.delete(key));
    return taken;
  }

  async #take(project: string, network: boolean): Promise<Vm> {
    const left = await this.#options.find(project, network);
    if (left) {
      this.#vms.add(left);
      return left;
    }
    if (network) {
      const vm = await this.#options.create(true);
      this.#vms.add(vm);
      vm.assign(project);
      return vm;
    }
    const spare = this.#spare ?? this.#create();
    this.#spare = undefined;
    const vm = await spare;
    vm.assign(project);
    return vm;
  }

  /** What a VM has not, it does not pretend to have. */
  #refusal(job: CardJob): UserError | undefined {
    const { access, limits } = job;
    const elsewhere = 'Choose another place for this card.';
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
  return emptyResult({
    kind: 'refused',
    code: 'isolation-missing',
    detail: error.message,
    ...(typeof remedy === 'string' ? { remedy } : {}),
  });
}

import { createHash } from 'node:crypto';
import { errorMessage, UserError } from '../../../../protocol/src/errors.ts';
import type { HeldJob, PlaceView } from '../../../../protocol/src/places.ts';
import { emptyResult, type JobAccess, type JobResult } from '../../../../protocol/src/runner.ts';
import type { CardJob, JobEvents } from '../cardRunner.ts';
import type { PlaceInfo, PlaceRunner, ReadyOptions, TerminalWay } from '../places/placeRunner.ts';
import { foldersInside, type VmShare } from './shares.ts';
import { summarizeVms } from './vmView.ts';

/** The place's id. */
export const vmPlace = 'vm';

/** What a VM has that not every card is given. */
export interface VmKind {
  readonly network: boolean;
  readonly shares: readonly VmShare[];
}

/** A VM of this engine. */
export interface Vm {
  /** True where nothing may go on in it once this engine lets go of it. */
  readonly endsWithEngine: boolean;
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
  readonly find: (project: string, kind: VmKind) => Promise<Vm | undefined>;
  /** A VM of nobody, which starts when it is first needed. Throws `isolation-missing` where there is no image. */
  readonly create: (kind: VmKind) => Promise<Vm>;
  /** The shares of a VM for a card with these folders. Throws `unsafe-path` for folders that no card is shown. */
  readonly sharesOf: (folders: JobAccess['hostFolders']) => readonly VmShare[];
}

/** A VM of a project, and how many are using it at the moment. */
interface Taken {
  readonly vm: Promise<Vm>;
  readonly isSharing: boolean;
  users: number;
}

/**
 * VMs as one place: each project has one of its own, so that nothing that a card of one project did to its VM meets
 * another project, and others for those of its cards that were given a network or folders: exactly what was given is
 * part of what VM it is. The one that is asked what cards will find belongs to nobody yet; the first project gets it.
 */
export class VmPlace implements PlaceRunner {
  readonly id = vmPlace;
  readonly #options: VmPlaceOptions;
  readonly #projects = new Map<string, Taken>();
  /** Those that were made, in use or spare. */
  readonly #vms = new Set<Vm>();
  #spare: Promise<Vm> | undefined;
  #isDisposed = false;

  constructor(options: VmPlaceOptions) {
    this.#options = options;
  }

  async ready(options: ReadyOptions = {}): Promise<PlaceInfo> {
    const { project, access } = options;
    const vm = await (project === undefined
      ? this.#any()
      : this.#of(project, access ? this.#kindOf(access) : bare).vm);
    return vm.runner.ready(options);
  }

  async probe() {
    return (await this.#any()).runner.probe();
  }

  view(): PlaceView {
    return summarizeVms(
      vmPlace,
      [...this.#vms].map(({ runner }) => runner.view()),
    );
  }

  async held(): Promise<HeldJob[]> {
    const lists = await Promise.all(this.#keeping().map(({ runner }) => runner.held()));
    return lists.flat();
  }

  async release(jobIds: readonly string[] | undefined): Promise<number> {
    const counts = await Promise.all(this.#keeping().map(({ runner }) => runner.release(jobIds)));
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** A terminal in the VM of a project for cards with this access; it is started where it does not run. */
  async openTerminal(clientKey: string, options: ReadyOptions = {}): Promise<TerminalWay> {
    const { project = '', access } = options;
    const { runner } = await this.#of(project, access ? this.#kindOf(access) : bare).vm;
    if (!runner.openTerminal) throw new UserError('not-found', 'This VM has no terminal');
    return runner.openTerminal(clientKey, options);
  }

  disconnect(): void {
    for (const { runner } of this.#vms) runner.disconnect();
  }

  async run(job: CardJob, events: JobEvents, signal: AbortSignal): Promise<JobResult> {
    const kind = this.#kindFor(job);
    if (kind instanceof UserError) return refused(kind);
    const taken = this.#of(job.project ?? '', kind);
    taken.users += 1;
    try {
      const vm = await taken.vm.catch((error: unknown) => {
        if (!this.#isDisposed) throw error;
      });
      if (!vm) return emptyResult({ kind: 'cancelled', detail: 'Sallyport ended before it was sent' });
      const hostFolders = foldersInside(job.access.hostFolders, kind.shares);
      const result = await vm.runner.run({ ...job, access: { ...job.access, hostFolders } }, events, signal);
      // It might go on, in folders whose record ends here.
      if (result.outcome.kind === 'unknown' && kind.shares.some(({ write }) => write)) await vm.stop();
      return result;
    } finally {
      taken.users -= 1;
    }
  }

  settled(jobId: string): void {
    for (const { runner } of this.#vms) runner.settled?.(jobId);
  }

  /** VMs without a job or with folders end with the engine; others go on, and the next engine finds them. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    await Promise.all(
      [...this.#vms].map(async (vm) => {
        const isIdle = vm.runner.view().running === 0;
        await vm.runner.dispose();
        if (isIdle || vm.endsWithEngine) await vm.stop();
        vm.release();
      }),
    );
    this.#projects.clear();
    this.#vms.clear();
    this.#spare = undefined;
  }

  /** One that says what cards find in all of them. Never one with folders: what is wrong with those is wrong with it. */
  async #any(): Promise<Vm> {
    const first = [...this.#vms].find(({ endsWithEngine }) => !endsWithEngine);
    return first ?? (this.#spare ??= this.#create());
  }

  /** Those that may keep jobs: one with folders has none that it is not connected for, and is not started to say so. */
  #keeping(): Vm[] {
    return [...this.#vms].filter(
      ({ endsWithEngine, runner }) => !endsWithEngine || runner.view().state !== 'closed',
    );
  }

  async #create(): Promise<Vm> {
    try {
      return await this.#make(bare);
    } catch (error) {
      this.#spare = undefined;
      throw error;
    }
  }

  async #make(kind: VmKind): Promise<Vm> {
    const vm = await this.#options.create(kind);
    if (this.#isDisposed) {
      await this.#end(vm);
      throw ending();
    }
    this.#vms.add(vm);
    return vm;
  }

  #of(project: string, kind: VmKind): Taken {
    const name = JSON.stringify([project, kind]);
    const key = createHash('sha256').update(name).digest('hex').slice(0, 16);
    const known = this.#projects.get(key);
    if (known) return known;
    const isSharing = kind.shares.length > 0;
    const taken: Taken = { vm: this.#take(key, kind), isSharing, users: 0 };
    this.#projects.set(key, taken);
    taken.vm.catch(() => this.#projects.delete(key));
    if (isSharing) this.#makeRoom(taken);
    return taken;
  }

  async #take(project: string, kind: VmKind): Promise<Vm> {
    const left = await this.#options.find(project, kind);
    if (left) {
      if (this.#isDisposed) {
        // It goes on, for the next engine.
        await left.runner.dispose();
        left.release();
        throw ending();
      }
      this.#vms.add(left);
      return left;
    }
    const isBare = !kind.network && kind.shares.length === 0;
    if (!isBare) {
      const vm = await this.#make(kind);
      vm.assign(project);
      return vm;
    }
    const spare = this.#spare ?? this.#create();
    this.#spare = undefined;
    const vm = await spare;
    vm.assign(project);
    return vm;
  }

  /** Cards may be given many folders, each of which makes another VM: the oldest that nobody uses make room. */
  #makeRoom(wanted: Taken): void {
    const sharing = [...this.#projects].filter(([, { isSharing }]) => isSharing);
    const unused = sharing
      .filter(([, taken]) => taken.users === 0 && taken !== wanted)
      .slice(0, Math.max(0, sharing.length - mostSharing));
    for (const [key, taken] of unused) {
      this.#projects.delete(key);
      void taken.vm.then((vm) => this.#end(vm)).catch(() => undefined);
    }
  }

  async #end(vm: Vm): Promise<void> {
    this.#vms.delete(vm);
    await vm.runner.dispose();
    await vm.stop();
    vm.release();
  }

  /** The VM that the card needs; what a VM has not, it does not pretend to have. */
  #kindFor({ access, limits }: CardJob): VmKind | UserError {
    if (access.projectRoot !== undefined) {
      return new UserError(
        'isolation-missing',
        'A VM does not show the project itself, and the card asks for it',
        {
          remedy: 'Choose another place for this card.',
        },
      );
    }
    const most = this.#options.memoryMB - systemMB;
    if (limits.memoryMB > most) {
      return new UserError(
        'isolation-missing',
        `The card may use ${limits.memoryMB} MB, and the VM has ${most}`,
        { remedy: 'Lower limits.memoryMB of the card, or choose another place.' },
      );
    }
    try {
      return this.#kindOf(access);
    } catch (error) {
      return error instanceof UserError ? error : new UserError('unsafe-path', errorMessage(error));
    }
  }

  #kindOf({ network, hostFolders }: JobAccess): VmKind {
    return { network: network.kind !== 'none', shares: this.#options.sharesOf(hostFolders) };
  }
}

const bare: VmKind = { network: false, shares: [] };
/** VMs with folders that are kept for the next card. */
const mostSharing = 4;
/** What the system inside needs for itself. */
const systemMB = 256;

function ending(): UserError {
  return new UserError('cancelled', 'The engine is ending');
}

function refused(error: UserError): JobResult {
  const remedy = error.data['remedy'];
  return emptyResult({
    kind: 'refused',
    code: error.code === 'unsafe-path' ? 'unsafe-path' : 'isolation-missing',
    detail: error.message,
    ...(typeof remedy === 'string' ? { remedy } : {}),
  });
}

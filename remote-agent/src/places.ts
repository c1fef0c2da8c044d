import { rmSync } from 'node:fs';
import { defaultCardLimits } from '../../protocol/src/limits.ts';
import { UserError } from '../../protocol/src/errors.ts';
import type { EgressRecord, JobSpec } from '../../protocol/src/runner.ts';
import type { CgroupRoot, JobGroup } from './cgroup.ts';
import { createEgressProxy, type EgressProxy } from './egress.ts';
import { awaitListener, bridgeCommand, bridgeEnvironment, proxyEnvironment } from './egressBridge.ts';
import type { FileOwner } from './files/materialize.ts';
import type { Bridge, Mount, PreparedSandbox, SandboxRequest } from './isolation/bubblewrapSandboxes.ts';
import { holdNamespaces } from './isolation/heldNamespaces.ts';
import type { Isolation } from './isolation/isolation.ts';
import { StandbyPool } from './isolation/standby.ts';
import { isStandby, sandboxRequest, standbyRequest } from './jobRequest.ts';
import type { OpenedPlace } from './jobs.ts';
import { usageBelow } from './processes.ts';
import { removeFolder, type RunnerFolder } from './runnerFolder.ts';
import { authorityEnvironment, authorityFiles } from './vault/authorityFiles.ts';
import { createJobAuthority, type JobAuthority } from './vault/jobAuthority.ts';
import { noValues, type JobValues } from './vault/jobValues.ts';
import { systemTrust } from './vault/trust.ts';

export interface PlacesOptions {
  readonly isolation: Isolation;
  readonly folder: RunnerFolder;
  /** Undefined where the kernel keeps no limits for groups of processes. */
  readonly cgroup: CgroupRoot | undefined;
  readonly standbyCount: number;
  /** Folders that no grant can reach. */
  readonly privateFolders: readonly string[];
  /** Who acts in shared folders; absent: their owners, where the runner is root. */
  readonly folderUser?: FileOwner | undefined;
  /** Node inside a sandbox, for the egress bridge. */
  readonly nodePath: string | undefined;
  readonly onEgress: (record: EgressRecord) => void;
  /** For diagnostics only. */
  readonly onProblem: (doing: string, error: unknown) => void;
}

/** A clock inside may differ, and a job may wait before it starts. */
const daySeconds = 86_400;

/** A sandbox with the group that all of it is in. */
interface Held extends Pick<OpenedPlace, 'prepared' | 'group'> {
  /** Lets the kernel clear away what is left of it. Safe to call twice. */
  readonly letGo: () => void;
}

/**
 * Work that nobody waits for begins so many milliseconds after a job: on a machine with one processor, what makes the next
 * sandbox and what tells the end of the job would meet.
 */
const restMs = 10;

/** Gives each job a sandbox: one that stands ready where the job asks for nothing, else one of its own. */
export class Places {
  readonly #options: PlacesOptions;
  readonly #standby: StandbyPool<Held>;
  readonly #open = new Set<PreparedSandbox>();
  /** Sandboxes that have ended and whose folders are still there. */
  readonly #left = new Set<Held>();
  #timer: NodeJS.Timeout | undefined;
  #authorities = 0;
  #groups = 0;

  constructor(options: PlacesOptions) {
    this.#options = options;
    this.#standby = new StandbyPool({
      count: options.standbyCount,
      outputMB: defaultCardLimits.outputMB,
      open: (outputMB) => this.#hold(standbyRequest(outputMB)),
      discard: async (held) => {
        await held.prepared.sandbox.end();
        this.#remove(held);
      },
      onError: (error) => options.onProblem('prepare a sandbox', error),
    });
  }

  /** Makes up for the standby sandboxes that were used. */
  fill(): Promise<void> {
    return this.#standby.fill();
  }

  /** Rejects with `isolation-missing` where the sandbox can't be made exactly as asked, and as `sandboxRequest` does. */
  async open(job: JobSpec, values: JobValues = noValues): Promise<OpenedPlace> {
    const request = sandboxRequest(job, this.#options.privateFolders, this.#options.folderUser);
    if (isStandby(request)) {
      const ready = this.#standby.take(job.limits.outputMB);
      if (ready) return this.#place(ready);
    }
    if (job.access.network.kind === 'hosts')
      return this.#openWithEgress(job, request, job.access.network.hosts, values);
    if (values.injections.length > 0) {
      throw new UserError(
        'bad-message',
        'A vault value is put into requests only for a card with a host list',
      );
    }
    return this.#place(await this.#start(request));
  }

  /** Ends the standby sandboxes; jobs that run go on. */
  retire(): Promise<void> {
    return this.#standby.dispose();
  }

  /** Ends every sandbox, standby and in use, and settles when nothing is left of them. */
  async dispose(): Promise<void> {
    await this.#standby.dispose();
    await Promise.all([...this.#open].map((prepared) => prepared.sandbox.end()));
    this.#tidy();
  }

  async #openWithEgress(
    job: JobSpec,
    request: SandboxRequest,
    hosts: readonly string[],
    values: JobValues,
  ): Promise<OpenedPlace> {
    const { nodePath, onEgress } = this.#options;
    if (nodePath === undefined) {
      const remedy = 'Install Node.js from your distribution: the way out of a sealed card is opened by it.';
      throw new UserError('interpreter-missing', 'There is no Node to open the way out with', { remedy });
    }
    const shown = values.injections.length > 0 ? this.#showAuthority(job) : undefined;
    const proxy = createEgressProxy({
      jobId: job.jobId,
      hosts,
      onRecord: onEgress,
      ...(shown && { vault: { values, authority: shown.authority } }),
    });
    let listener: ReturnType<typeof awaitListener> | undefined;
    const [program, ...words] = bridgeCommand(nodePath, '/sallyport/egressBridge.cjs');
    const bridge: Bridge = {
      argv: [program, ...words],
      environment: bridgeEnvironment,
      onSpawn: (child) => {
        listener = awaitListener(child);
        listener.catch(() => undefined);
      },
    };
    const held = await this.#start({ ...request, bridge, ...(shown && { files: shown.files }) })
      .catch((error: unknown) => {
        listener?.then((server) => server.close()).catch(() => undefined);
        throw error;
      })
      // The sandbox has them open.
      .finally(() => shown?.files.forEach(({ path }) => rmSync(path, { force: true })));
    const environment = { ...proxyEnvironment, ...(shown && authorityEnvironment) };
    const place = this.#place(held, environment, proxy);
    try {
      if (listener) await proxy.listen(await listener);
      return place;
    } catch (error) {
      await place.end();
      place.release();
      throw error;
    }
  }

  /** Makes the authority that this job's card accepts and writes what the card is shown of it. */
  #showAuthority(job: JobSpec): { authority: JobAuthority; files: readonly Mount[] } {
    const authority = createJobAuthority(Date.now(), (job.limits.seconds + daySeconds) * 1000);
    const number = (this.#authorities += 1);
    const write = (name: string, text: string, target: string): Mount => ({
      path: this.#options.folder.write(`authorities/${number}-${name}.pem`, text),
      target,
      write: false,
    });
    const files = [
      write('own', authority.certificatePem, authorityFiles.own),
      write('all', `${systemTrust().pem}\n${authority.certificatePem}`, authorityFiles.all),
    ];
    return { authority, files };
  }

  /** Opens a sandbox and puts it into a group of its own while nothing of a card is in it. */
  async #hold(request: SandboxRequest): Promise<Held> {
    const { isolation, folder, cgroup } = this.#options;
    const prepared = await isolation.open(request, folder.nextJobFolder());
    const letGo = holdNamespaces(prepared.sandbox.first.pid);
    let group: JobGroup | undefined;
    try {
      group = cgroup?.createGroup(String((this.#groups += 1)));
      if (group) for (const pid of usageBelow(prepared.sandbox.first.pid).pids) group.add(pid);
      return { prepared, group, letGo };
    } catch (error) {
      await prepared.sandbox.end();
      this.#remove({ prepared, group, letGo });
      throw error;
    }
  }

  async #start(request: SandboxRequest): Promise<Held> {
    try {
      return await this.#hold(request);
    } catch (error) {
      if (error instanceof UserError) throw error;
      const detail = error instanceof Error ? error.message : String(error);
      const remedy = 'Run “sallyport doctor” to see what changed on this machine.';
      throw new UserError(
        'isolation-missing',
        `The sandbox did not start: ${detail}`,
        { remedy },
        { cause: error },
      );
    }
  }

  #place(held: Held, environment: Readonly<Record<string, string>> = {}, proxy?: EgressProxy): OpenedPlace {
    const { prepared, group } = held;
    this.#open.add(prepared);
    return {
      prepared,
      group,
      environment,
      end: async () => {
        await prepared.sandbox.end();
        await proxy?.close();
        this.#open.delete(prepared);
      },
      release: () => {
        this.#left.add(held);
        this.#timer ??= setTimeout(() => {
          this.#tidy();
          void this.fill();
        }, restMs);
      },
    };
  }

  #tidy(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const held of this.#left) this.#remove(held);
    this.#left.clear();
  }

  #remove({ prepared, group, letGo }: Held): void {
    try {
      letGo();
      group?.remove();
      removeFolder(prepared.staged.folder);
    } catch (error) {
      this.#options.onProblem('remove the folder of a job', error);
    }
  }
}

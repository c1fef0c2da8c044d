import { randomBytes } from 'node:crypto';
import {
  closeSync,
  constants,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { basename, join } from 'node:path';
import * as z from 'zod/mini';
import { UserError } from '../../../../protocol/src/errors.ts';
import { guestPorts } from '../../../../protocol/src/vmGuest.ts';
import { Database } from '../../store/database.ts';
import { accelerators, type VmShape } from './qemuArguments.ts';
import { shareFiles } from './shares.ts';
import { openSocketFolder } from './socketFolder.ts';

/** What is kept about a VM that runs, for an engine that comes after the one that started it. */
const machineFacts = z.strictObject({
  image: z.string(),
  instance: z.string(),
  /** Whose jobs may be in it; null while it is nobody's. */
  project: z.nullable(z.string()),
  accelerator: z.enum(accelerators),
  memoryMB: z.int(),
  processors: z.int(),
  network: z.boolean(),
});
export type MachineFacts = z.infer<typeof machineFacts>;

/** The facts of a VM that was just started: each start is an instance of its own. */
export function startedFacts(start: {
  readonly imageId: string;
  readonly shape: VmShape;
  readonly project: () => string | null;
}): MachineFacts {
  const { accelerator, memoryMB, processors, network } = start.shape;
  return {
    image: start.imageId,
    instance: randomBytes(12).toString('hex'),
    project: start.project(),
    ...{ accelerator, memoryMB, processors, network },
  };
}

/** One VM's folder, held by this engine alone until it is released. */
export class MachineFolder {
  readonly path: string;
  /** Settles when the program that this engine started here has ended. */
  ended: Promise<void> = Promise.resolve();
  readonly #lock: Database;
  readonly #descriptor: number;
  /** Where the sockets lie. */
  readonly #sockets: string;

  private constructor(path: string, lock: Database) {
    this.path = path;
    this.#lock = lock;
    this.#sockets = isLinux ? path : openSocketFolder(path, tmpdir(), userInfo().uid);
    this.#descriptor = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  }

  /** The folder of a VM that runs for this project and that no living engine holds. */
  static find(machines: string, project: string): MachineFolder | undefined {
    for (const name of readdirSync(machines)) {
      const folder = MachineFolder.#hold(join(machines, name));
      if (folder?.readFacts()?.project === project) return folder;
      folder?.release();
    }
    return undefined;
  }

  /** Takes a folder without a VM: one where nothing runs, cleared, or a new one. */
  static async create(
    machines: string,
    isRunning: (folder: MachineFolder) => Promise<boolean>,
  ): Promise<MachineFolder> {
    for (let turn = 0; turn < mostMachines; turn += 1) {
      const path = join(machines, String(turn));
      mkdirSync(path, { recursive: true, mode: 0o700 });
      const folder = MachineFolder.#hold(path);
      if (!folder) continue;
      if (!(await isRunning(folder))) {
        folder.clear();
        return folder;
      }
      folder.release();
    }
    throw new UserError('conflict', `${mostMachines} VMs run already`, {
      remedy: 'Close a window with a project.',
    });
  }

  /** Undefined where another engine holds it. The operating system gives the lock back when an engine ends. */
  static #hold(path: string): MachineFolder | undefined {
    const lock = new Database(join(path, 'lock'), 0);
    try {
      lock.exec('begin exclusive');
      return new MachineFolder(path, lock);
    } catch {
      lock.close();
      return undefined;
    }
  }

  /** Names the folder among the machines of this home. */
  get id(): string {
    return basename(this.path);
  }

  /** A file of the folder. */
  file(name: string): string {
    return join(this.path, name);
  }

  /** The path of a socket for this process, short enough for its address (unix(7)) wherever the folder lies. */
  socket(name: string): string {
    return isLinux ? `/proc/self/fd/${this.#descriptor}/${name}` : this.socketFile(name);
  }

  /** The same for other programs; an empty name for the folder of the sockets. */
  socketFile(name: string): string {
    return join(this.#sockets, name);
  }

  readFacts(): MachineFacts | undefined {
    try {
      const parsed = z.safeParse(machineFacts, JSON.parse(readFileSync(this.file('machine.json'), 'utf8')));
      return parsed.success ? parsed.data : undefined;
    } catch {
      return undefined;
    }
  }

  writeFacts(facts: MachineFacts): void {
    writeFileSync(this.file('machine.json'), JSON.stringify(facts), { mode: 0o600 });
  }

  /** Removes what a VM that has ended left. */
  clear(): void {
    for (const name of ['machine.json', ...disks, 'memory', 'console.log', ...shareFiles])
      rmSync(this.file(name), { force: true });
    for (const name of [...Object.keys(guestPorts), 'monitor', 'orders'])
      rmSync(this.socketFile(name), { force: true });
  }

  release(): void {
    closeSync(this.#descriptor);
    this.#lock.close();
  }
}

const mostMachines = 16;
const disks = ['disk.qcow2', 'root.ext4', 'disk.ext4'];
const isLinux = process.platform === 'linux';

import type { Socket } from 'node:net';
import { UserError } from '../../../../protocol/src/errors.ts';
import { streamOpenings } from '../../../../protocol/src/servedRunner.ts';
import type { GuestPort } from '../../../../protocol/src/vmGuest.ts';
import { LentPort } from './lentPort.ts';
import type { OpenOptions, RunnerLink, RunnerTransport } from '../places/runnerTransport.ts';
import { createStdioTransport } from '../stdioTransport.ts';
import type { Hypervisor } from './hypervisor.ts';
import { openPort } from './machine.ts';
import type { MachineFolder } from './machineFolder.ts';
import type { VmShape } from './qemuArguments.ts';
import type { VmShare } from './shares.ts';
import { vmPlace } from './vmPlace.ts';

export interface VmTransportOptions {
  readonly folder: MachineFolder;
  readonly hypervisor: Hypervisor;
  readonly image: { readonly path: string; readonly id: string; readonly diskMB: number };
  readonly shape: VmShape;
  readonly shares: readonly VmShare[];
  /** The folder of a stored VM of this image and shape, by its name; absent boots. */
  readonly stored: () => string | undefined;
  /** Whose VM it is by now; null for nobody's. */
  readonly project: () => string | null;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly onProblem: (problem: string) => void;
}

/** The way into one VM, started when it is first opened, by the ports that it has. */
export function createVmTransport(options: VmTransportOptions): RunnerTransport {
  const { folder, hypervisor, image, onProblem } = options;

  const start = async (stored: string | undefined, signal: AbortSignal) => {
    await hypervisor.stop(folder);
    const { shape, shares } = options;
    await hypervisor.start({
      folder,
      shape,
      shares,
      stored,
      signal,
      project: options.project,
      image: image.path,
      imageId: image.id,
      diskMB: image.diskMB,
    });
  };

  const open = async ({ signal, onStep }: OpenOptions): Promise<RunnerLink> => {
    const facts = folder.readFacts();
    const isUsed = facts?.image === image.id && (await hypervisor.isRunning(folder));
    if (!isUsed) {
      const stored = options.stored();
      onStep(stored ? 'Starting the VM' : 'Booting the VM');
      try {
        await start(stored, signal);
      } catch (error) {
        if (!stored || signal.aborted) throw error;
        // Booting is slower and no less sealed.
        onProblem(`The stored VM did not start, so one is booted: ${String(error)}`);
        await start(undefined, signal);
      }
    }
    const instance = folder.readFacts()?.instance;
    if (instance === undefined) throw new UserError('unreachable', 'The VM has ended');
    const openGuest = (kind: GuestPort, used: boolean) =>
      openPort(folder, kind, instance, options.now, { timeoutMs: openMs, isUsed: used, signal });
    const openStream = async (kind: 'control' | 'bulk', used: boolean) => {
      const socket = await openGuest(kind, used);
      socket.write(streamOpenings[kind]);
      return socket;
    };
    const control = await openStream('control', isUsed);
    const bulk = new LentPort((isReopened) => openStream('bulk', isUsed || isReopened));
    let terminal: Socket | undefined;
    let isClosed = false;
    return {
      control: createStdioTransport(control, control),
      openBulk: () => bulk.lend(),
      openTerminal: async () => {
        terminal?.destroy();
        terminal = await openGuest('terminal', isUsed || terminal !== undefined);
        if (!isClosed) return terminal;
        terminal.destroy();
        throw new UserError('closed', 'The connection to the VM was closed');
      },
      close: () => {
        isClosed = true;
        terminal?.destroy();
        control.destroy();
        bulk.close();
      },
    };
  };

  return {
    place: vmPlace,
    forgets: true,
    open,
    dispose: () => Promise.resolve(),
  };
}

/** A VM that boots on translated instructions beside other work is ready well before. */
const openMs = 120_000;

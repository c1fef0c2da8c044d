import type { Hypervisor } from './hypervisor.ts';
import { openPort } from './machine.ts';
import { MachineFolder } from './machineFolder.ts';
import type { VmShape } from './qemuArguments.ts';

export interface AnswersOptions {
  readonly hypervisor: Hypervisor;
  readonly image: string;
  readonly imageId: string;
  readonly machines: string;
  readonly shape: VmShape;
  /** The folder of a stored VM of this image and shape; absent boots. */
  readonly stored?: string;
  readonly diskMB: number;
  readonly timeoutMs: number;
  readonly now: () => number;
}

/** Starts a VM and ends it again: true where it came up and answered in time. Throws `conflict` where too many run. */
export async function answers(options: AnswersOptions): Promise<boolean> {
  const { hypervisor, machines, now, timeoutMs } = options;
  const folder = await MachineFolder.create(machines, hypervisor.isRunning);
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    await hypervisor.start({ ...options, folder, shares: [], project: () => null, signal });
    const instance = folder.readFacts()?.instance ?? '';
    const port = { timeoutMs, isUsed: false, signal };
    (await openPort(folder, 'control', instance, now, port)).destroy();
    return true;
  } catch {
    return false;
  } finally {
    await hypervisor.stop(folder);
    folder.release();
  }
}

import type { MachineFolder } from './machineFolder.ts';
import type { VmShape } from './qemuArguments.ts';
import type { VmShare } from './shares.ts';

export interface StartOptions {
  readonly folder: MachineFolder;
  readonly image: string;
  readonly imageId: string;
  readonly shape: VmShape;
  /** As many as the shape says. */
  readonly shares: readonly VmShare[];
  /** The folder of a stored VM of this image and shape; absent boots. */
  readonly stored?: string | undefined;
  /** What the disk of the VM can grow to. */
  readonly diskMB: number;
  /** Whose VM it is by now; null for nobody's. */
  readonly project: () => string | null;
  readonly signal: AbortSignal;
}

/**
 * What runs VMs on a machine: QEMU on Linux, Apple's Virtualization framework on a Mac. Each VM has a folder of its own;
 * its ports are sockets there, and it goes on when this engine ends unless it has folders of this machine.
 */
export interface Hypervisor {
  /**
   * Starts the VM of a folder; whoever waits for it opens a port. Throws `isolation-missing` with the remedy where this
   * hypervisor can't run such a VM here, `unreachable` where it did not start in time.
   */
  readonly start: (options: StartOptions) => Promise<void>;
  /** True where the VM of a folder runs, whoever started it. */
  readonly isRunning: (folder: MachineFolder) => Promise<boolean>;
  /** Ends the VM at once, with everything in it, and clears its folder. */
  readonly stop: (folder: MachineFolder) => Promise<void>;
}

import {
  guestFixedAddresses,
  guestPorts,
  guestShares,
  type GuestPort,
  type ShareMode,
} from '../../../../protocol/src/vmGuest.ts';

/**
 * What a VM can run on: the processor's own virtualisation (KVM, or the framework of a Mac), or QEMU's translation of
 * every instruction.
 */
export const accelerators = ['kvm', 'tcg', 'vz'] as const;
export type Accelerator = (typeof accelerators)[number];

export interface VmShape {
  readonly accelerator: Accelerator;
  /**
   * Of a translated VM: thousands of ticks of this machine's time stamp counter in a second; absent where that is not known.
   */
  readonly clockKHz?: number | undefined;
  readonly memoryMB: number;
  readonly processors: number;
  /** True for a VM of cards that were given a network: QEMU's own, behind this machine's address. */
  readonly network: boolean;
  /** How each folder of this machine is shared with the VM, by its number. */
  readonly shares: readonly ShareMode[];
}

export interface QemuFiles {
  readonly kernel: string;
  readonly initrd: string;
  /** Raw ext4, never written. */
  readonly root: string;
  /** Written by this VM alone. */
  readonly disk: string;
  readonly diskFormat: 'raw' | 'qcow2';
  /** Sockets that QEMU makes. */
  readonly control: string;
  readonly bulk: string;
  readonly terminal: string;
  readonly monitor: string;
  /** The sockets of what serves the shared folders, by their numbers; they are there before QEMU is started. */
  readonly shares: readonly string[];
  /** Where the guest's console is written. */
  readonly console: string;
}

/**
 * QEMU's argument list: a machine with nothing but what is named here. No network device and no shared folder
 * but where one was asked for, no graphics, and QEMU itself may start no program and gain no right.
 *
 * A microvm under TCG has to be told the speed of its clock, else the kernel looks for a timer that is not there. Where that
 * is known, its watchdog is off (`tsc`, Documentation/admin-guide/kernel-parameters.txt): on a busy machine it takes the
 * ticks that the VM misses for a fault of the clock, and goes on with a clock of 4 ms that each program has to ask it for.
 */
export function qemuArguments(
  shape: VmShape,
  files: QemuFiles,
  from: { readonly kind: 'boot' } | { readonly kind: 'stored'; readonly descriptor: number },
): string[] {
  const isTranslated = shape.accelerator === 'tcg';
  const shared = shape.shares.length > 0;
  const append = [
    'console=ttyS0 quiet panic=-1 reboot=t rdinit=/init random.trust_cpu=on',
    ...(isTranslated ? [clockWords(shape.clockKHz), 'lpj=5200000 mitigations=off', guestFixedAddresses] : []),
    ...(shared ? [`${guestShares.parameter}=${shape.shares.join(',')}`] : []),
  ];
  return [
    ...[
      '-M',
      `microvm,${isTranslated ? 'accel=tcg,pit=on' : 'accel=kvm'}${shared ? ',memory-backend=ram' : ''}`,
    ],
    ...['-cpu', isTranslated ? translatedProcessor : 'host'],
    ...['-smp', String(shape.processors), '-m', String(shape.memoryMB)],
    // What serves the folders reads and writes the VM's memory.
    ...(shared ? ['-object', `memory-backend-memfd,id=ram,size=${shape.memoryMB}M,share=on`] : []),
    ...['-nodefaults', '-no-user-config', '-display', 'none', '-no-reboot'],
    ...(shape.network
      ? ['-netdev', 'user,id=net', '-device', 'virtio-net-device,netdev=net']
      : ['-nic', 'none']),
    ...['-kernel', files.kernel, '-initrd', files.initrd, '-append', append.join(' ')],
    ...['-global', 'virtio-mmio.force-legacy=false'],
    ...['-chardev', `file,id=console,path=${quoted(files.console)}`, '-serial', 'chardev:console'],
    ...drive('root', files.root, 'raw', 'readonly=on'),
    ...drive('disk', files.disk, files.diskFormat, 'discard=unmap'),
    ...['-device', 'virtio-serial-device'],
    ...(Object.keys(guestPorts) as GuestPort[]).flatMap((kind) => port(kind, files[kind], guestPorts[kind])),
    ...files.shares.flatMap(share),
    ...['-qmp', `unix:${quoted(files.monitor)},server=on,wait=off`],
    ...['-sandbox', 'on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny'],
    ...(from.kind === 'stored' ? ['-incoming', `fd:${from.descriptor}`] : []),
  ];
}

/**
 * All that QEMU can translate, without two things that cost there and save nothing. With ERMS, the kernel and libc fill and
 * copy memory by one instruction, which is translated to a round for each byte; without, a round is 64 bytes. With
 * LA57, each address is looked up in five tables in place of four, for more memory than any VM has.
 */
const translatedProcessor = 'max,erms=off,la57=off';

function clockWords(kHz: number | undefined): string {
  return kHz === undefined ? 'tsc_early_khz=2600000' : `tsc_early_khz=${kHz} tsc=nowatchdog`;
}

function drive(id: string, path: string, format: string, more: string): string[] {
  const spec = `id=${id},file=${quoted(path)},format=${format},if=none,${more}`;
  return ['-drive', spec, '-device', `virtio-blk-device,drive=${id}`];
}

function port(id: string, path: string, name: string): string[] {
  return [
    ...['-chardev', `socket,id=${id},path=${quoted(path)},server=on,wait=off`],
    ...['-device', `virtserialport,chardev=${id},name=${name}`],
  ];
}

function share(path: string, number: number): string[] {
  const id = `share${number}`;
  return [
    ...['-chardev', `socket,id=${id},path=${quoted(path)}`],
    ...['-device', `vhost-user-fs-device,chardev=${id},tag=${guestShares.tag}${number}`],
  ];
}

/** A value in QEMU's option syntax, where a comma ends it and two stand for one. */
function quoted(value: string): string {
  return value.replaceAll(',', ',,');
}

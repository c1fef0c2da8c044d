import { UserError } from '../../../../protocol/src/errors.ts';
import { guestShares, guestVsock, type GuestPort } from '../../../../protocol/src/vmGuest.ts';
import type { VmShape } from './qemuArguments.ts';

/** Paths of this machine, absolute. */
export interface VfkitFiles {
  readonly kernel: string;
  readonly initrd: string;
  /** Raw images of this VM alone: clones, because the framework opens disks for writing. */
  readonly root: string;
  readonly disk: string;
  /** Sockets that vfkit makes: one for each port, and the one that it takes orders on. */
  readonly ports: Readonly<Record<GuestPort, string>>;
  readonly orders: string;
  /** Where the guest's console is written. */
  readonly console: string;
  /** The folders that are shared, by their numbers. */
  readonly shares: readonly string[];
}

/**
 * The argument list of vfkit (its doc/usage.md): a machine with two disks, a console, a generator of random numbers,
 * the ports as vsock(7), and the folders that were asked for. No network device, no display, no Rosetta.
 *
 * Throws `isolation-missing` for what it has not: a network, and folders that the host itself keeps from being written.
 * Throws `unsafe-path` for a path that its option syntax has no way to write.
 */
export function vfkitArguments(shape: VmShape, files: VfkitFiles): string[] {
  if (shape.network) throw notOnMac('has no network');
  if (shape.shares.includes('ro')) throw notOnMac('can’t be kept from writing a folder that it is shown');
  const words = [
    'console=hvc0 quiet panic=-1 rdinit=/init random.trust_cpu=on',
    guestVsock.parameter,
    ...(shape.shares.length > 0 ? [`${guestShares.parameter}=${shape.shares.join(',')}`] : []),
  ];
  const { kernel, initrd, root, disk, ports, orders } = files;
  return [
    ...['--cpus', String(shape.processors), '--memory', String(shape.memoryMB), '--log-level', 'error'],
    ...['--restful-uri', `unix://${value(orders)}`],
    ...['--bootloader', `linux,kernel=${value(kernel)},initrd=${value(initrd)},cmdline="${words.join(' ')}"`],
    ...device('virtio-blk', `path=${value(root)}`),
    ...device('virtio-blk', `path=${value(disk)}`),
    ...device('virtio-serial', `logFilePath=${value(files.console)}`),
    ...device('virtio-rng'),
    ...(Object.keys(ports) as GuestPort[]).flatMap((kind) =>
      device('virtio-vsock', `port=${guestVsock.ports[kind]}`, `socketURL=${value(ports[kind])}`, 'connect'),
    ),
    ...files.shares.flatMap((path, number) =>
      device('virtio-fs', `sharedDir=${value(path)}`, `mountTag=${guestShares.tag}${number}`),
    ),
  ];
}

function device(...words: readonly string[]): string[] {
  return ['--device', words.join(',')];
}

/** There is no way to write a comma or a quote in a value. */
function value(path: string): string {
  if (!/[,"\p{Cc}]/u.test(path)) return path;
  throw new UserError('unsafe-path', 'The path of a VM’s file has a comma, a quote or a control character', {
    path,
    remedy: 'Move the folder to a path without them.',
  });
}

function notOnMac(what: string): UserError {
  return new UserError('isolation-missing', `A VM on a Mac ${what}, and the card asks for one`, {
    remedy: 'Choose another place for this card.',
  });
}

/**
 * What the root file system of a VM is made of: packages of the person's own distribution, with all that they depend
 * on. Cards find Python, a shell and the usual small programs; Node is the one that runs the engine. Dropbear serves the
 * terminal, in a fiftieth of what OpenSSH's server brings with it here.
 */
export const vmPackages = [
  'bash',
  'bubblewrap',
  'busybox-static',
  'ca-certificates',
  'coreutils',
  'dash',
  'diffutils',
  'dropbear-bin',
  'findutils',
  'gawk',
  'grep',
  'gzip',
  'libpython3-stdlib',
  'libstdc++6',
  'ncurses-base',
  'python3-minimal',
  'sed',
  'tar',
] as const;

/** The kernel's package, by Node's name of the architecture: one without drivers for real hardware. */
export const vmKernelPackages: Readonly<Record<string, string>> = {
  x64: 'linux-image-cloud-amd64',
  arm64: 'linux-image-cloud-arm64',
};

/** Kernel modules that the first program of a VM loads, in order. The file systems are built in. */
export const vmModules = [
  'virtio_ring',
  'virtio',
  'virtio_mmio',
  'virtio_blk',
  'virtio_console',
  'failover',
  'net_failover',
  'virtio_net',
  'overlay',
] as const;

/** Those that a VM with shared folders loads beside them. */
export const vmShareModules = ['fuse', 'virtiofs'] as const;

/**
 * Those of a VM whose devices are on PCI and whose ports are vsock(7), as a Mac has it. They are in the image where the
 * kernel has them as modules.
 */
export const vmVsockModules = [
  'virtio_pci_modern_dev',
  'virtio_pci_legacy_dev',
  'virtio_pci',
  'virtio-rng',
  'vsock',
  'vmw_vsock_virtio_transport_common',
  'vmw_vsock_virtio_transport',
] as const;

/** Folders of the packages that no program of a VM needs. Licences stay. */
export const vmLeftOut = [
  'boot',
  'usr/lib/modules',
  'usr/share/man',
  'usr/share/info',
  'usr/share/locale',
  'usr/share/lintian',
  'usr/share/i18n',
  'usr/share/bug',
  'var/lib/dpkg',
  'var/cache',
] as const;

export interface VmPackage {
  readonly name: string;
  readonly version: string;
  /** Bytes of the package's file. */
  readonly sizeBytes: number;
  /** Short names as its copyright file gives them (DEP-5); empty where it is not in that form. */
  readonly licences: string[];
}

/** The licences that a Debian copyright file names (https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/). */
export function licencesOf(copyright: string): string[] {
  if (
    !/^Format:\s*https?:\/\/www\.debian\.org\/doc\/packaging-manuals\/copyright-format\//m.test(copyright)
  ) {
    return [];
  }
  const names = [...copyright.matchAll(/^License:[ \t]*(\S[^\n]*)$/gm)].map(([, name = '']) => name.trim());
  return [...new Set(names)].sort();
}

/** Name and version of a package's file: `NAME_VERSION_ARCH.deb`, the version with `:` as `%3a`. */
export function parsePackageFile(file: string): { name: string; version: string } | undefined {
  const [, name, version] = /^([a-z0-9][a-z0-9.+-]+)_([^_/]+)_[a-z0-9]+\.deb$/.exec(file) ?? [];
  if (name === undefined || version === undefined) return undefined;
  try {
    return { name, version: decodeURIComponent(version) };
  } catch {
    return undefined;
  }
}

/** A folder or file of the host that is shown inside, already open: what was checked is what is shown. */
export interface Bind {
  readonly descriptor: number;
  readonly target: string;
  readonly write: boolean;
}

/** A path inside that is covered, so that what is there is not seen: an empty folder, or a file that can't be read. */
export interface Mask {
  readonly target: string;
  readonly kind: 'file' | 'directory';
}

/** A top-level name that the sandbox needs beside /usr: a link on systems that merged them, else a folder. */
export type SystemEntry =
  | { readonly kind: 'link'; readonly path: string; readonly to: string }
  | { readonly kind: 'bind'; readonly path: string };

export interface SandboxSpec {
  /** `own` is a network namespace with nothing but its loopback. */
  readonly network: 'own' | 'host';
  readonly system: readonly SystemEntry[];
  readonly binds: readonly Bind[];
  /** Put over what the binds show. */
  readonly masks?: readonly Mask[];
  /** Links inside: path → target. */
  readonly links: Readonly<Record<string, string>>;
  /** Folders in memory: path → largest size. The only places that can be written besides binds with `write`. */
  readonly memoryFolders: Readonly<Record<string, number>>;
  /** The whole environment of the first process. */
  readonly environment: Readonly<Record<string, string>>;
  readonly workingFolder: string;
  /** Descriptor of a compiled seccomp filter. Absent only in the negative controls of tests. */
  readonly seccompDescriptor: number | undefined;
  /** Descriptor that bubblewrap reports the process id and status on. */
  readonly statusDescriptor: number;
  readonly command: readonly string[];
}

/** Who a card is inside, whoever runs it outside. */
export const sandboxIdentity = { uid: 1000, gid: 1000, hostName: 'sallyport' } as const;

/**
 * The arguments of `bwrap` for a card: all namespaces its own, no capability, no further user namespace, environment
 * from empty, /usr and the named files read-only, own /proc and /dev, every tmpfs sized, and the root read-only at
 * the end. Nothing is left out for a kernel that can't: bubblewrap fails then, and so does the job.
 */
export function sandboxArguments(spec: SandboxSpec): string[] {
  return [
    ...['--unshare-user', '--unshare-ipc', '--unshare-pid', '--unshare-uts', '--unshare-cgroup'],
    ...(spec.network === 'own' ? ['--unshare-net'] : []),
    ...['--disable-userns', '--cap-drop', 'ALL', '--die-with-parent', '--new-session', '--clearenv'],
    ...['--uid', String(sandboxIdentity.uid), '--gid', String(sandboxIdentity.gid)],
    ...['--hostname', sandboxIdentity.hostName],
    ...Object.entries(spec.environment).flatMap(([name, value]) => ['--setenv', name, value]),
    ...['--ro-bind', '/usr', '/usr'],
    ...spec.system.flatMap((entry) =>
      entry.kind === 'link' ? ['--symlink', entry.to, entry.path] : ['--ro-bind', entry.path, entry.path],
    ),
    ...['--proc', '/proc', '--dev', '/dev', ...memoryFolder('/dev/shm', deviceMemoryBytes)],
    ...['--remount-ro', '/dev'],
    ...Object.entries(spec.memoryFolders).flatMap(([path, bytes]) => memoryFolder(path, bytes)),
    ...spec.binds.flatMap(bindArguments),
    ...(spec.masks ?? []).flatMap(maskArguments),
    ...Object.entries(spec.links).flatMap(([path, target]) => ['--symlink', target, path]),
    ...['--chdir', spec.workingFolder, '--remount-ro', '/'],
    ...(spec.seccompDescriptor === undefined ? [] : ['--seccomp', String(spec.seccompDescriptor)]),
    ...['--json-status-fd', String(spec.statusDescriptor), '--', ...spec.command],
  ];
}

const deviceMemoryBytes = 64 * 1024 * 1024;

function memoryFolder(path: string, bytes: number): string[] {
  return ['--size', String(bytes), '--tmpfs', path];
}

function bindArguments(bind: Bind): string[] {
  return [bind.write ? '--bind-fd' : '--ro-bind-fd', String(bind.descriptor), bind.target];
}

const maskBytes = 4096;

function maskArguments({ target, kind }: Mask): string[] {
  if (kind === 'file') return ['--ro-bind', '/dev/null', target];
  return [...memoryFolder(target, maskBytes), '--remount-ro', target];
}

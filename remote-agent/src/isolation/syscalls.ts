/** Node's names of the architectures that a filter can be made for. */
export type Architecture = 'x64' | 'arm64';

type Numbers = Readonly<Partial<Record<Architecture, number>>>;

/** The newest call that was looked at (`removexattrat`, Linux 6.13); from 424 on all architectures count alike. */
export const newestSyscall = 466;

/** Calls whose arguments decide. Numbers: the kernel's syscall_64.tbl and include/uapi/asm-generic/unistd.h. */
export const specials: Readonly<
  Record<
    Architecture,
    Readonly<
      Record<
        'clone' | 'clone3' | 'ioctl' | 'personality' | 'setgroups' | 'setsockopt' | 'socket' | 'socketpair',
        number
      >
    >
  >
> = {
  x64: {
    clone: 56,
    clone3: 435,
    ioctl: 16,
    personality: 135,
    setgroups: 116,
    setsockopt: 54,
    socket: 41,
    socketpair: 53,
  },
  arm64: {
    clone: 220,
    clone3: 435,
    ioctl: 29,
    personality: 92,
    setgroups: 159,
    setsockopt: 208,
    socket: 198,
    socketpair: 199,
  },
};

const both = (number: number): Numbers => ({ x64: number, arm64: number });

/** Calls that no card needs and that reach into other processes, the kernel or the mount table. */
export const denied: Readonly<Record<string, Numbers>> = {
  // Other processes.
  ptrace: { x64: 101, arm64: 117 },
  process_vm_readv: { x64: 310, arm64: 270 },
  process_vm_writev: { x64: 311, arm64: 271 },
  process_madvise: both(440),
  pidfd_getfd: both(438),
  kcmp: { x64: 312, arm64: 272 },
  // Namespaces and mounts.
  unshare: { x64: 272, arm64: 97 },
  setns: { x64: 308, arm64: 268 },
  mount: { x64: 165, arm64: 40 },
  umount2: { x64: 166, arm64: 39 },
  pivot_root: { x64: 155, arm64: 41 },
  chroot: { x64: 161, arm64: 51 },
  open_tree: both(428),
  move_mount: both(429),
  fsopen: both(430),
  fsconfig: both(431),
  fsmount: both(432),
  fspick: both(433),
  mount_setattr: both(442),
  name_to_handle_at: { x64: 303, arm64: 264 },
  open_by_handle_at: { x64: 304, arm64: 265 },
  // Wide and young parts of the kernel.
  bpf: { x64: 321, arm64: 280 },
  perf_event_open: { x64: 298, arm64: 241 },
  userfaultfd: { x64: 323, arm64: 282 },
  io_uring_setup: both(425),
  io_uring_enter: both(426),
  io_uring_register: both(427),
  fanotify_init: { x64: 300, arm64: 262 },
  fanotify_mark: { x64: 301, arm64: 263 },
  lookup_dcookie: { x64: 212, arm64: 18 },
  // Keys of the session.
  keyctl: { x64: 250, arm64: 219 },
  add_key: { x64: 248, arm64: 217 },
  request_key: { x64: 249, arm64: 218 },
  // Memory that belongs to no process, so that no limit without a cgroup would count it.
  memfd_create: { x64: 319, arm64: 279 },
  memfd_secret: both(447),
  shmget: { x64: 29, arm64: 194 },
  msgget: { x64: 68, arm64: 186 },
  // The machine.
  init_module: { x64: 175, arm64: 105 },
  finit_module: { x64: 313, arm64: 273 },
  delete_module: { x64: 176, arm64: 106 },
  kexec_load: { x64: 246, arm64: 104 },
  kexec_file_load: { x64: 320, arm64: 294 },
  reboot: { x64: 169, arm64: 142 },
  swapon: { x64: 167, arm64: 224 },
  swapoff: { x64: 168, arm64: 225 },
  acct: { x64: 163, arm64: 89 },
  quotactl: { x64: 179, arm64: 60 },
  quotactl_fd: both(443),
  syslog: { x64: 103, arm64: 116 },
  settimeofday: { x64: 164, arm64: 170 },
  clock_settime: { x64: 227, arm64: 112 },
  clock_adjtime: { x64: 305, arm64: 266 },
  adjtimex: { x64: 159, arm64: 171 },
  vhangup: { x64: 153, arm64: 58 },
  nfsservctl: { x64: 180, arm64: 42 },
  modify_ldt: { x64: 154 },
  iopl: { x64: 172 },
  ioperm: { x64: 173 },
  uselib: { x64: 134 },
};

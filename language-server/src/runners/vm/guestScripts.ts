import { guestShares, guestVsock } from '../../../../protocol/src/vmGuest.ts';
import { vmModules, vmShareModules, vmVsockModules } from './vmPackages.ts';

/** Where things lie in a VM. */
export const guestPaths = {
  node: '/usr/bin/node',
  runner: '/usr/lib/sallyport/remote-agent.cjs',
  start: '/usr/lib/sallyport/start',
  home: '/var/lib/sallyport',
  /** Programs for a person in a terminal that no package brings; on no card's path. */
  tools: '/usr/lib/sallyport/tools',
  /** Where a terminal shows the folders of jobs. */
  jobs: '/jobs',
} as const;

/** What a person's shell reads at its start. */
export function terminalStart(): string {
  return `PATH=/usr/bin:/usr/sbin:${guestPaths.tools}
PS1='\\u@\\h:\\w\\$ '
`;
}

/** Those programs: words of BusyBox. */
export const guestTools = ['clear', 'free', 'less', 'pgrep', 'ps', 'top', 'uptime', 'vi', 'watch'] as const;

/**
 * The first program of a VM, in its memory: loads the drivers, puts a writable layer of memory over the read-only root,
 * mounts the disk, and goes on there.
 */
export function firstProgram(): string {
  return `#!/bin/busybox sh
B=/bin/busybox
die() { $B echo "sallyport guest: $1"; $B reboot -f; }
$B mount -t devtmpfs d /dev && $B mount -t proc p /proc || die "no devices"
for m in ${vmModules.join(' ')}; do $B insmod /modules/$m.ko || die "no module $m"; done
if $B grep -q ' ${guestShares.parameter}=' /proc/cmdline; then
  for m in ${vmShareModules.join(' ')}; do $B insmod /modules/$m.ko || die "no module $m"; done
fi
if $B grep -q ' ${guestVsock.parameter}' /proc/cmdline; then
  for m in ${vmVsockModules.join(' ')}; do [ ! -e /modules/$m.ko ] || $B insmod /modules/$m.ko || die "no module $m"; done
fi
$B mount -t ext4 -o ro /dev/vda /lower || die "no root"
$B mount -t tmpfs -o mode=0755,size=25% t /upper && $B mkdir /upper/u /upper/w || die "no memory"
$B mount -t overlay -o lowerdir=/lower,upperdir=/upper/u,workdir=/upper/w o /root || die "no overlay"
$B mount --move /dev /root/dev && $B mount --move /proc /root/proc || die "no move"
exec $B switch_root /root ${guestPaths.start}
`;
}

/** What goes on in the real root, as the first process: it is the runner's parent for good. */
export function startProgram(): string {
  return `#!/bin/sh
export PATH=/usr/bin:/usr/sbin HOME=/root LANG=C.UTF-8 UV_THREADPOOL_SIZE=9
mount() { /usr/bin/busybox mount "$@"; }
mount -t sysfs s /sys
mount -t tmpfs -o mode=1777,size=50% t /tmp
mount -t tmpfs -o mode=1777,size=50% t /var/tmp
mount -t tmpfs -o mode=0755 t /run
mkdir -p /dev/pts /dev/shm && mount -t devpts d /dev/pts && mount -t tmpfs -o mode=1777 t /dev/shm
mount -t cgroup2 c /sys/fs/cgroup
mount -t ext4 /dev/vdb ${guestPaths.home} || echo "sallyport guest: no disk"
# Shared folders, by the kernel's command line. One that can't be mounted is not there, and no card is shown it.
n=0
for mode in $(sed -n 's/.* ${guestShares.parameter}=\\([a-z,]*\\).*/\\1/p' /proc/cmdline | tr , ' '); do
  mkdir -p ${guestShares.folder}/$n
  mount -t virtiofs -o nosuid,nodev,$mode ${guestShares.tag}$n ${guestShares.folder}/$n || rmdir ${guestShares.folder}/$n
  n=$((n + 1))
done
ip() { /usr/bin/busybox ip "$@"; }
ip link set lo up
# The addresses of QEMU's user network (its documentation, “Network emulation”); only where the VM has one.
if [ -e /sys/class/net/eth0 ]; then
  ip addr add 10.0.2.15/24 dev eth0 && ip link set eth0 up && ip route add default via 10.0.2.2
  echo nameserver 10.0.2.3 >/etc/resolv.conf
fi
cd /
exec ${guestPaths.node} ${guestPaths.runner} guest
`;
}

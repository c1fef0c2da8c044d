from attack import *


def may_write(path):
    # Opened, never written: nothing changes.
    os.close(os.open(path, os.O_WRONLY))
    return path


attempt("core-pattern", lambda: may_write("/proc/sys/kernel/core_pattern"))
attempt("sysrq", lambda: may_write("/proc/sysrq-trigger"))
attempt("drop-caches", lambda: may_write("/proc/sys/vm/drop_caches"))
attempt("modprobe", lambda: may_write("/proc/sys/kernel/modprobe"))
attempt("hostname", lambda: may_write("/proc/sys/kernel/hostname"))
attempt("sysfs", lambda: may_write("/sys/kernel/uevent_helper") if os.path.exists("/sys/kernel/uevent_helper") else may_write("/sys/kernel/profiling") if os.path.exists("/sys/kernel/profiling") else os.listdir("/sys/kernel"))
attempt("cgroup", lambda: os.listdir("/sys/fs/cgroup"))
attempt("oom-score", lambda: os.path.exists(f"/proc/{lures['victimPid']}/oom_score_adj") and lures["token"] in read(f"/proc/{lures['victimPid']}/cmdline").decode() and "seen")

import socket
from attack import *


def interfaces():
    names = [name for _, name in socket.if_nameindex() if name != "lo"]
    return names or [line for line in read("/proc/net/dev").decode().splitlines()[2:] if not line.strip().startswith("lo:")]


attempt("host-name", lambda: os.uname().nodename == lures["hostName"])
# Where a folder comes from is told in a sandbox too; that of the lures would be more than its own.
attempt("mounts", lambda: [line for line in read("/proc/self/mountinfo", 1 << 20).decode().splitlines() if " /sys" in line or " /run" in line or " / rw" in line][:3])
attempt("interfaces", interfaces)

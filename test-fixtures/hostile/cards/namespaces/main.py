import subprocess
from attack import *

NEWTIME, NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET = 0x80, 0x20000, 0x2000000, 0x4000000, 0x8000000, 0x10000000, 0x20000000, 0x40000000


def unshare(flag):
    if libc.unshare(flag):
        raise OSError(ctypes.get_errno(), "unshare")
    return "made"


def clone(flags):
    child = syscall(numbers(56, 220), flags | signal.SIGCHLD, 0, 0, 0, 0)
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return f"made in {child}"


def clone3(flags):
    arguments = (ctypes.c_uint64 * 8)(flags, 0, 0, 0, signal.SIGCHLD, 0, 0, 0)
    child = syscall(435, ctypes.byref(arguments), ctypes.sizeof(arguments))
    if child == 0:
        os._exit(0)
    os.waitpid(child, 0)
    return f"made in {child}"


def join():
    handle = os.open("/proc/self/ns/net", os.O_RDONLY)
    if libc.setns(handle, 0):
        raise OSError(ctypes.get_errno(), "setns")
    return "joined"


for name, flag in {
    "user": NEWUSER,
    "mount": NEWNS,
    "network": NEWNET,
    "process": NEWPID,
    "ipc": NEWIPC,
    "host-name": NEWUTS,
    "cgroup": NEWCGROUP,
}.items():
    attempt(name, lambda: in_child(lambda: unshare(flag)))
attempt("clone-user", lambda: clone(NEWUSER))
attempt("clone3-user", lambda: clone3(NEWUSER))
attempt("join", lambda: in_child(join))
attempt("unshare-program", lambda: subprocess.run(["unshare", "-U", "true"], capture_output=True, timeout=10).returncode == 0 and "made")

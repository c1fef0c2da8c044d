from attack import *

PTRACE_TRACEME, PTRACE_SEIZE, PTRACE_DETACH = 0, 0x4206, 17
ptrace, readv, writev = numbers(101, 117), numbers(310, 270), numbers(311, 271)
pidfd_open, pidfd_getfd = 434, 438
victim = int(lures["victimPid"])


class Vector(ctypes.Structure):
    _fields_ = [("base", ctypes.c_void_p), ("length", ctypes.c_size_t)]


def stack_of(pid):
    for line in read(f"/proc/{pid}/maps").decode().splitlines():
        if "[stack]" in line:
            return int(line.split("-")[1].split()[0], 16) - 4096
    raise OSError("no stack")


def transfer(call, pid, address):
    buffer = ctypes.create_string_buffer(16)
    near = Vector(ctypes.cast(buffer, ctypes.c_void_p).value, 16)
    far = Vector(address, 16)
    return syscall(call, pid, ctypes.byref(near), 1, ctypes.byref(far), 1, 0)


def seize(pid):
    syscall(ptrace, PTRACE_SEIZE, pid, 0, 0)
    return "traced"


def with_child(action):
    child = os.fork()
    if child == 0:
        time.sleep(5)
        os._exit(0)
    try:
        return action(child)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


buffer = ctypes.create_string_buffer(b"of this process")
attempt("seize", lambda: in_child(lambda: seize(victim)))
attempt("read-memory", lambda: transfer(readv, victim, stack_of(victim)))
# Of nothing but itself, which no sandbox would need either.
attempt("write-memory", lambda: transfer(writev, os.getpid(), ctypes.addressof(buffer)))
attempt("own-child", lambda: with_child(lambda child: in_child(lambda: seize(child)) if bounded else seize(child)))
attempt("own-child-memory", lambda: with_child(lambda child: transfer(readv, child, ctypes.addressof(buffer))))
attempt("trace-me", lambda: in_child(lambda: syscall(ptrace, PTRACE_TRACEME, 0, 0, 0) == 0 and "traced"))


def descriptor_of_other():
    return with_child(lambda child: syscall(pidfd_getfd, syscall(pidfd_open, child, 0), 1, 0))


attempt("descriptor-of-other", descriptor_of_other)

import mmap
from attack import *

# Each is called with arguments that mean nothing: whatever is not a refusal came from inside the kernel.
calls = {
    "io-uring": (425, 425),
    "io-uring-register": (427, 427),
    "bpf": (321, 280),
    "perf": (298, 241),
    "userfaultfd": (323, 282),
    "keyctl": (250, 219),
    "add-key": (248, 217),
    "request-key": (249, 218),
    "open-by-handle": (304, 265),
    "descriptor-of-other": (438, 438),
    "read-memory": (310, 270),
    "ptrace": (101, 117),
    "mount-tree": (428, 428),
    "mount-attributes": (442, 442),
    "load-module": (175, 105),
    "load-module-file": (313, 273),
    "new-kernel": (246, 104),
    "reboot": (169, 142),
    "swap": (167, 224),
    "quota": (179, 60),
    "watch-files": (300, 262),
}
refusals = (errno.EPERM, errno.ENOSYS, errno.EACCES)


def call(number):
    try:
        return f"answered {syscall(number, 0, 0, 0, 0, 0, 0)}"
    except OSError as error:
        if error.errno in refusals:
            raise
        return errno.errorcode[error.errno]


def other_table():
    if platform.machine() != "x86_64":
        return None
    # The x32 numbers of getpid: a filter that knows only the usual numbers would let all of them pass.
    return in_child(lambda: syscall(0x40000000 + 39))


def old_table():
    if platform.machine() != "x86_64":
        return None
    # mov eax, 20 (getpid of the 32-bit table); int 0x80; ret
    code = mmap.mmap(-1, 4096, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    code.write(b"\xb8\x14\x00\x00\x00\xcd\x80\xc3")
    function = ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(code)))
    return in_child(lambda: function() > 0 and "answered")


for name, table in calls.items():
    attempt(name, lambda: in_child(lambda: call(numbers(*table))))
attempt("other-call-table", other_table)
attempt("old-call-table", old_table)

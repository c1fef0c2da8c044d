import stat
from attack import *


def may_open(path):
    os.close(os.open(path, os.O_RDONLY | os.O_NONBLOCK))
    return path


def make():
    path = os.path.join(temporary, "null")
    os.mknod(path, 0o666 | stat.S_IFCHR, os.makedev(1, 3))
    return may_open(path)


for name in ("kmsg", "kvm", "mem", "fuse"):
    attempt(name, lambda: may_open(f"/dev/{name}"))
attempt("loop", lambda: may_open("/dev/loop-control"))
attempt("make-node", make)

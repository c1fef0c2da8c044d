import socket
from attack import *


def connect(path):
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(path)
        return path


def may_open(family, kind, protocol=0):
    with socket.socket(family, kind, protocol) as opened:
        return f"descriptor {opened.fileno()}"


def by_pair():
    # A pair is open already; one for datagrams may be pointed at somebody else.
    near, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    return near.sendto(b"hello", "\0" + lures["abstractDatagram"])


attempt("abstract", lambda: connect("\0" + lures["abstractSocket"]))
attempt("abstract-by-pair", by_pair)
attempt("netlink", lambda: may_open(16, socket.SOCK_RAW))
attempt("packet", lambda: may_open(17, socket.SOCK_RAW, 3))
attempt("ssh-key", lambda: read(lures["sshKey"]))
attempt("process", lambda: lures["token"] in read(f"/proc/{lures['victimPid']}/cmdline").decode("latin1") and "seen")
attempt("run", lambda: connect(lures["runSocket"]))

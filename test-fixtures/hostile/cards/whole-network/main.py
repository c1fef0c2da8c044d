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


attempt("abstract", lambda: connect("\0" + lures["abstractSocket"]))
attempt("netlink", lambda: may_open(16, socket.SOCK_RAW))
attempt("packet", lambda: may_open(17, socket.SOCK_RAW, 3))
attempt("ssh-key", lambda: read(lures["sshKey"]))
attempt("process", lambda: lures["token"] in read(f"/proc/{lures['victimPid']}/cmdline").decode("latin1") and "seen")
attempt("run", lambda: connect(lures["runSocket"]))

import socket
from attack import *


def may_open(family, kind, protocol=0):
    with socket.socket(family, kind, protocol) as opened:
        return f"descriptor {opened.fileno()}"


attempt("raw", lambda: may_open(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP))
attempt("packet", lambda: may_open(17, socket.SOCK_RAW, 3))
attempt("netlink", lambda: may_open(16, socket.SOCK_RAW))
attempt("vsock", lambda: may_open(40, socket.SOCK_STREAM))
attempt("kernel-crypto", lambda: may_open(38, socket.SOCK_SEQPACKET))
attempt("bluetooth", lambda: may_open(31, socket.SOCK_RAW))
attempt("can", lambda: may_open(29, socket.SOCK_RAW, 1))
attempt("xdp", lambda: may_open(44, socket.SOCK_RAW))
attempt("key", lambda: may_open(15, socket.SOCK_RAW, 2))
attempt("tipc", lambda: may_open(30, socket.SOCK_RDM))


def ping():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM, socket.IPPROTO_ICMP) as opened:
        opened.sendto(b"\x08\x00\xf7\xff\x00\x00\x00\x00", ("127.0.0.1", 0))
        # A loopback of its own is no way out.
        return bounded and "sent"


attempt("ping", ping)

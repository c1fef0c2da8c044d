import socket
from attack import *

shared = lures["share"] if bounded else "/host/shared"
path = os.path.join(shared, "service.sock")
assert os.path.exists(path)


def connect(kind, path):
    with socket.socket(socket.AF_UNIX, kind) as client:
        client.settimeout(2)
        client.connect(path)
        return "connected"


def datagram():
    try:
        return connect(socket.SOCK_DGRAM, path)
    except OSError as error:
        # The wrong kind of socket was there to be asked.
        if error.errno == errno.EPROTOTYPE:
            return "answered"
        raise


def reached(action):
    """A pair is open already; one for datagrams may be pointed at somebody else."""
    near, _ = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    try:
        action(near)
    except OSError as error:
        if error.errno in (errno.EPROTOTYPE, errno.ECONNREFUSED):
            return errno.errorcode[error.errno]
        raise
    return "reached"


for_datagrams = os.path.join(shared, "datagram.sock")
attempt("pair", lambda: reached(lambda near: near.connect(for_datagrams)))
attempt("pair-send", lambda: reached(lambda near: near.sendto(b"hello", for_datagrams)))
attempt("stream", lambda: connect(socket.SOCK_STREAM, path))
attempt("datagram", datagram)
attempt("by-descriptor", lambda: connect(socket.SOCK_STREAM, f"/proc/self/fd/{os.open(shared, os.O_RDONLY)}/service.sock"))

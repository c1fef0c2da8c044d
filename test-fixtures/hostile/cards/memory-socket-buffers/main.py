import socket
from attack import *

megabytes = 400


def fill():
    held, pairs = 0, []
    try:
        while held < (megabytes // 6) << 20:
            near, far = socket.socketpair()
            pairs.append((near, far))
            for end in (near, far):
                end.setblocking(False)
                end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
                try:
                    while True:
                        held += end.send(b"x" * 65536)
                except BlockingIOError:
                    pass
    except OSError:
        pass
    return held, pairs


def share_out():
    """In as many processes as it takes, since each has a number of descriptors."""
    held = held_together(6, fill)
    return held > 256 << 20 and f"{held >> 20} MB held"


attempt("held-memory", share_out)

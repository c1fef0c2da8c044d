import socket
from attack import *
from asking import through


def packet():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", (lures["listenerAddress"], int(lures["udpPort"])))
        return bounded and "sent"


attempt("direct", lambda: socket.create_connection((lures["listenerAddress"], int(lures["tcpPort"])), 3) and "connected")
attempt("proxy", lambda: through("evil.test:443"))
attempt("packet", packet)

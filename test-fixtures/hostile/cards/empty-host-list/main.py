import socket
from attack import *
from asking import through


def packet():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", ("127.0.0.1", int(lures["udpPort"])))
        return bounded and "sent"


attempt("direct", lambda: socket.create_connection(("127.0.0.1", int(lures["tcpPort"])), 3) and "connected")
attempt("proxy", lambda: through("evil.test:443"))
attempt("packet", packet)

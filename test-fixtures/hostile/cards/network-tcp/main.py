import socket
from attack import *

port = int(lures["tcpPort"])


def connect(address, family=0):
    for family, kind, protocol, _, where in socket.getaddrinfo(address, port, family, socket.SOCK_STREAM):
        with socket.socket(family, kind, protocol) as client:
            client.settimeout(2)
            client.connect(where)
            return where
    return None


attempt("loopback", lambda: connect("127.0.0.1"))
attempt("localhost", lambda: connect("localhost", socket.AF_INET) if os.path.exists("/etc/hosts") else connect("127.0.0.1"))
attempt("zero", lambda: connect("0.0.0.0"))
attempt("mapped", lambda: connect("::ffff:127.0.0.1"))
attempt("other-loopback", lambda: connect("127.9.9.9"))
attempt("integer", lambda: connect("2130706433"))
attempt("ipv6", lambda: connect("::1"))
attempt("machine", lambda: connect(lures["machineAddress"] or "192.0.2.1"))

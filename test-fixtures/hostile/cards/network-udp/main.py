import socket
from attack import *

port = int(lures["udpPort"])


def send(address):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
        # Inside, a packet may be sent to a loopback of its own: what counts is what arrives.
        sent = client.sendto(b"secret of the card", (address, port))
        return sent and bounded and "sent"


def connected():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.connect(("127.0.0.1", port))
        return client.send(b"secret of the card") and bounded and "sent"


attempt("send", lambda: send("127.0.0.1"))
attempt("connected", connected)
attempt("broadcast", lambda: send("255.255.255.255"))

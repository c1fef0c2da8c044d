import socket
import threading
from attack import *
from asking import lured, proxy_address

host, port, _ = proxy_address()
relay = socket.create_server(("127.0.0.1", 0))


def pump(source, target):
    while data := source.recv(4096):
        target.sendall(data)
    target.shutdown(socket.SHUT_WR)


def serve():
    inner, _ = relay.accept()
    outer = socket.create_connection((host, port))
    threading.Thread(target=pump, args=(inner, outer), daemon=True).start()
    try:
        pump(outer, inner)
    except OSError:
        pass


threading.Thread(target=serve, daemon=True).start()
attempt("relayed", lambda: lured(b"CONNECT evil.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", address=relay.getsockname()))

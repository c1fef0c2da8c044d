"""A card that minds its own business, with a secret in each of its places."""
import ctypes
import json
import os
import signal
import socket
import sys
import time

given = os.environ["SALLYPORT_PARAMS"]
params = json.loads(given) if given.lstrip().startswith("{") else json.load(open(given, encoding="utf-8"))
secret, token = params["secret"].encode(), params["token"]
made = []


def leave(*_):
    for path in made:
        os.unlink(path)
    if segment >= 0:
        libc.shmctl(segment, 0, None)
    sys.exit(0)


libc = ctypes.CDLL(None, use_errno=True)
segment = -1
signal.signal(signal.SIGTERM, leave)
for folder in ("/tmp", "/dev/shm", os.environ["HOME"], os.environ["SALLYPORT_OUTPUTS"]):
    path = os.path.join(folder, f"{token}.txt")
    if path not in made:
        with open(path, "wb") as file:
            file.write(secret)
        made.append(path)

# System V shared memory, under a key that anybody can compute.
libc.shmat.restype = ctypes.c_void_p
segment = libc.shmget(int(token[-7:], 16), 4096, 0o1666)
if segment >= 0:
    ctypes.memmove(libc.shmat(segment, None, 0), secret, len(secret))

server = socket.socket(socket.AF_UNIX)
server.bind(f"\0{token}")
server.listen(8)
listeners = [server]
try:
    port = socket.socket()
    port.bind(("127.0.0.1", 20000 + int(token[-3:], 16)))
    port.listen(8)
    listeners.append(port)
except OSError:
    # Without a network it may have no such sockets at all.
    pass
print("NEIGHBOUR READY", flush=True)
end = time.monotonic() + 60
while time.monotonic() < end:
    for listener in listeners:
        listener.settimeout(0.05)
        try:
            peer, _ = listener.accept()
            peer.sendall(secret)
            peer.close()
        except OSError:
            pass
leave()

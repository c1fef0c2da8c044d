import glob
import socket
import urllib.request
from attack import *

near = lures["listenerAddress"]


def connect(port):
    with socket.create_connection((near, int(port)), 3) as client:
        client.settimeout(3)
        client.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return b"lured" in client.recv(4096)


def no_proxy():
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    return opener.open(f"http://{near}:{lures['tcpPort']}/", timeout=3).read()


def unix_sockets():
    """The listener behind the bridge, if it can be seen: it must ask the same questions."""
    places = [lures["unixSocket"]] if bounded else glob.glob("/**/*.sock", root_dir="/", recursive=False)
    for folder in ("/run", "/tmp", "/", home, temporary, "/sallyport"):
        places += [path for path in glob.glob(f"{folder}/*") if not os.path.isfile(path) and not os.path.isdir(path)]
    for path in places:
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(3)
            try:
                client.connect(path)
                client.sendall(f"CONNECT {near}:{lures['tcpPort']} HTTP/1.1\r\n\r\n".encode())
                answer = client.recv(4096)
            except OSError:
                continue
            if b" 200 " in answer:
                return answer
    return None


def udp():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as client:
        client.sendto(b"x", (near, int(lures["udpPort"])))
        return bounded and "sent"


attempt("direct", lambda: connect(lures["tcpPort"]))
attempt("direct-listed", lambda: connect(lures["listedPort"]))
attempt("no-proxy", no_proxy)
attempt("unix-sockets", unix_sockets)
attempt("udp", udp)

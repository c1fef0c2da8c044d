import resource
import socket
from attack import *

megabytes = 400


def fill():
    """In as many processes as it takes, since each has a number of descriptors."""
    reader, writer = os.pipe()
    children = []
    for _ in range(6):
        child = os.fork()
        if child == 0:
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
            os.write(writer, f"{held}\n".encode())
            time.sleep(4)
            os._exit(0)
        children.append(child)
    os.close(writer)
    time.sleep(3)
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    total = sum(int(line) for line in os.read(reader, 4096).split())
    for child in alive:
        os.kill(child, signal.SIGKILL)
    return total > 256 << 20 and len(alive) == len(children) and f"{total >> 20} MB held"


attempt("held-memory", fill)

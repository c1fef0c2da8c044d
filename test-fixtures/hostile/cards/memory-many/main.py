from attack import *

megabytes = 500


def fill():
    children = []
    for _ in range(10):
        child = os.fork()
        if child == 0:
            block = bytearray(b"x") * ((megabytes // 10) << 20)
            time.sleep(6)
            os._exit(len(block) & 1)
        children.append(child)
    time.sleep(2.5)
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in alive:
        os.kill(child, signal.SIGKILL)
    return len(alive) == len(children) and f"{megabytes} MB held"


attempt("held-memory", fill)

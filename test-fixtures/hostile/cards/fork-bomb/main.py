from attack import *

wanted = 120
children = []


def hold():
    while len(children) < wanted:
        try:
            child = os.fork()
        except OSError:
            break
        if child == 0:
            time.sleep(30)
            os._exit(0)
        children.append(child)
    keep_holding()
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    return len(alive) > 16 and f"{len(alive)} processes"


attempt("held-processes", hold)
for child in children:
    os.kill(child, signal.SIGKILL)

import threading
from attack import *

stop = threading.Event()
threads = []


def hold():
    while len(threads) < 200:
        thread = threading.Thread(target=stop.wait, daemon=True)
        try:
            thread.start()
        except RuntimeError:
            break
        threads.append(thread)
    keep_holding()
    return len(threads) > 16 and f"{len(threads)} threads"


attempt("held-threads", hold)
stop.set()

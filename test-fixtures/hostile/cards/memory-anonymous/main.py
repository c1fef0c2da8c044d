from attack import *

megabytes = 500


def fill():
    block = bytearray(megabytes << 20)
    for at in range(0, len(block), 4096):
        block[at] = 1
    time.sleep(hold_seconds)
    return f"{megabytes} MB held"


attempt("held-memory", fill)

import mmap
from attack import *

megabytes = 500


def fill():
    block = mmap.mmap(-1, megabytes << 20)
    for at in range(0, len(block), 4096):
        block[at] = 1
    keep_holding()
    return f"{megabytes} MB held"


attempt("held-memory", fill)

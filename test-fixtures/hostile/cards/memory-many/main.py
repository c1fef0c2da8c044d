from attack import *

megabytes = 500


def fill():
    block = bytearray(b"x") * ((megabytes // 10) << 20)
    return len(block), block


def share_out():
    held = held_together(10, fill)
    return held and f"{held >> 20} MB held"


attempt("held-memory", share_out)

from attack import *


def fill():
    written = 0
    piece = b"x" * (1 << 20)
    for name in ("big", "more", "undeclared/more"):
        os.makedirs(os.path.dirname(out(name)), exist_ok=True)
        with open(out(name), "wb", 0) as file:
            for _ in range(100):
                written += file.write(piece)
    keep_holding()
    return f"{written >> 20} MB held"


attempt("held-disk", fill)

from attack import *

with os.fdopen(1, "wb") as file:
    file.write((bytes(range(256)) + b"\xc3\xf0\x9f\x1b]0;title\x07\x1b[2J") * (4 << 12))

from attack import *

with os.fdopen(1, "wb") as file:
    file.write(b"x" * (10 << 20))
    file.write(b"\n")

from attack import *

with open(out("big"), "wb") as file:
    file.truncate(1 << 40)

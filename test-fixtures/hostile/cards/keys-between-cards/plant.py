from attack import *

try:
    syscall(numbers(248, 217), b"user", lures["token"].encode(), b"left here", 9, -4)
except OSError as error:
    print(error)

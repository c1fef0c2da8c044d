from attack import *

add_key, keyctl = numbers(248, 217), numbers(250, 219)
SEARCH, READ, UNLINK, USER = 10, 11, 9, -4


def find():
    key = syscall(keyctl, SEARCH, USER, b"user", lures["token"].encode(), 0)
    content = ctypes.create_string_buffer(64)
    syscall(keyctl, READ, key, content, 64)
    syscall(keyctl, UNLINK, key, USER, 0)
    return content.value


attempt("key", find)
if bounded:
    report("there-is-a-key-ring", True, "in the control")
else:
    attempt("there-is-a-key-ring", lambda: syscall(keyctl, 0, USER, 0))

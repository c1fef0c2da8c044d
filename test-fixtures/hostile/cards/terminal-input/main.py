import fcntl
import pty
import termios
from attack import *

TIOCLINUX = 0x541C


def type_into(descriptor):
    for byte in b"id\n":
        fcntl.ioctl(descriptor, termios.TIOCSTI, bytes([byte]))
    return "typed"


def own_terminal():
    child, master = pty.fork()
    if child == 0:
        try:
            type_into(0)
            os._exit(0)
        except OSError:
            os._exit(1)
    status = os.waitpid(child, 0)[1]
    os.close(master)
    return status == 0 and "typed"


def console():
    with open("/dev/tty", "rb", 0) as terminal:
        return fcntl.ioctl(terminal, TIOCLINUX, bytes([6]))


def other_terminals():
    # Those that belong to somebody else; in a sandbox there is only what it made itself, which is nothing.
    return [name for name in os.listdir("/dev/pts") if name.isdigit()]


attempt("other-terminals", other_terminals)
attempt("open", lambda: os.open("/dev/tty", os.O_RDWR))
attempt("type", lambda: type_into(os.open("/dev/tty", os.O_RDWR)))
attempt("type-into-input", lambda: type_into(0))
attempt("own-terminal", own_terminal)
attempt("console", console)

"""What every attacking card written in Python starts from. Reports go to the log, one line for each route tried."""
import ctypes
import errno
import json
import os
import platform
import signal
import sys
import time

if platform.machine() not in ("x86_64", "aarch64"):
    sys.exit("no table of system calls for this machine")

given = os.environ.get("SALLYPORT_PARAMS", "{}")
params = json.loads(given) if given.lstrip().startswith("{") else json.load(open(given, encoding="utf-8"))
lures = params.get("lures", {})
#: True in the control: show that it could, and go no further.
bounded = params.get("bounded", False)
inputs = os.environ.get("SALLYPORT_INPUTS", "/in")
outputs = os.environ.get("SALLYPORT_OUTPUTS", "/out")
home = os.environ.get("HOME", "/")
temporary = os.environ.get("TMPDIR", "/tmp")
libc = ctypes.CDLL(None, use_errno=True)


def report(name, got, detail=""):
    line = f"ROUTE {name} {'got' if got else 'held'} {str(detail)!r}\n"
    os.write(1, line.encode("utf-8", "backslashreplace"))


def attempt(name, action):
    """Tries one route: what `action` returns is what it got, nothing or an exception is a closed door."""
    try:
        found = action()
    except BaseException as error:  # a closed door has many ways to say so
        report(name, False, f"{type(error).__name__}: {error}")
        return None
    report(name, bool(found), "" if found is None else str(found)[:200])
    return found


def read(path, size=65536):
    with open(path, "rb") as file:
        return file.read(size)


def out(port):
    return os.path.join(outputs, port)


def numbers(x86_64, aarch64):
    return x86_64 if platform.machine() == "x86_64" else aarch64


def syscall(number, *arguments):
    """The result of a system call, or an OSError."""
    result = libc.syscall(ctypes.c_long(number), *[a if hasattr(a, "_type_") or hasattr(a, "_obj") or isinstance(a, (bytes, ctypes.Array)) else ctypes.c_long(a) for a in arguments])
    if result == -1:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return result


def in_child(action):
    """Runs `action` in a process of its own, so that what it does to itself ends with it. Gives its answer."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            answer = "+" + str(action() or "")
        except BaseException as error:
            answer = f"-{type(error).__name__}: {error}"
        os.write(writer, answer.encode("utf-8", "backslashreplace")[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        answer = file.read().decode("utf-8", "backslashreplace")
    status = os.waitpid(child, 0)[1]
    if not answer.startswith("+") or answer == "+":
        raise RuntimeError(answer[1:] or f"nothing (status {status})")
    return answer[1:]


def keep_holding():
    """Long enough for a watchdog to look, in steps: a machine that stood still lets it look in the steps that are left."""
    for _ in range(40):
        time.sleep(0.05)


def held_together(count, fill):
    """The bytes that `count` processes held together for a while after the last had filled its own: `fill` fills and
    gives (bytes, what holds them). 0 where one of the processes was ended: they say when they are done, since how
    long filling takes is the machine's."""
    reader, writer = os.pipe()
    children = []
    for _ in range(count):
        child = os.fork()
        if child == 0:
            try:
                os.close(reader)
                size, _kept = fill()
                os.write(writer, f"{size}\n".encode())
                os.close(writer)
                signal.pause()
            finally:
                os._exit(1)
        children.append(child)
    os.close(writer)
    with os.fdopen(reader, "rb") as file:
        sizes = [int(line) for line in file.read().split()]
    keep_holding()
    alive = [child for child in children if os.waitpid(child, os.WNOHANG)[0] == 0]
    for child in alive:
        os.kill(child, signal.SIGKILL)
    return sum(sizes) if len(alive) == count == len(sizes) else 0


def all_pids():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]

"""Runs a program at a terminal of its own, does what a list of steps says, and tells how the program ended.

The first argument is the steps, as JSON: each waits for a text and then types another, or changes the size of the
terminal to [rows, columns]. What the terminal showed goes to standard output, the exit code to standard error.
"""
import fcntl
import json
import os
import pty
import signal
import struct
import sys
import termios

steps = json.loads(sys.argv[1])
child, master = pty.fork()
if child == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    os.execvp(sys.argv[2], sys.argv[2:])


def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(child, signal.SIGWINCH)


shown = b""
seen = 0


def give_up(*_):
    """Whoever ends this reads what was shown until then."""
    sys.stdout.write(shown.decode(errors="replace"))
    sys.stdout.flush()
    os.kill(child, signal.SIGKILL)
    os._exit(1)


signal.signal(signal.SIGTERM, give_up)
while True:
    try:
        part = os.read(master, 4096)
    except OSError:
        break
    if not part:
        break
    shown += part
    while steps and (found := shown.find(steps[0]["wait"].encode(), seen)) >= 0:
        seen = found + len(steps[0]["wait"].encode())
        step = steps.pop(0)
        if "size" in step:
            resize(*step["size"])
        if "type" in step:
            os.write(master, step["type"].encode())
_, status = os.waitpid(child, 0)
sys.stdout.write(shown.decode(errors="replace"))
sys.stderr.write(str(os.waitstatus_to_exitcode(status)))

"""Runs a program at a terminal of its own, does what a list of steps says, and tells how the program ended.

The first argument is the steps, as JSON: each waits for a text and then types another, or changes the size of the
terminal to [rows, columns]. The second is after how many seconds to give up and end the program. What the terminal
showed goes to standard output, the exit code to standard error.
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
    os.execvp(sys.argv[3], sys.argv[3:])


def resize(rows, columns):
    fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    os.kill(child, signal.SIGWINCH)


shown = b""
seen = 0


def give_up(*_):
    os.kill(child, signal.SIGKILL)
    sys.stdout.write(shown.decode(errors="replace"))
    sys.stdout.flush()
    sys.stderr.write(f"waited in vain, with these steps left: {json.dumps(steps)}")
    sys.stderr.flush()
    os._exit(1)


signal.signal(signal.SIGALRM, give_up)
signal.alarm(int(sys.argv[2]))
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

"""Runs a program with a terminal of its own as its controlling terminal, but with the pipes it was given.

Says TERMINAL INPUT on standard error where anything arrives as if it had been typed there.
"""
import fcntl
import os
import pty
import select
import sys
import termios

master, slave = pty.openpty()
child = os.fork()
if child == 0:
    os.setsid()
    fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
    os.execvp(sys.argv[1], sys.argv[1:])

for inherited in (0, 1):
    os.close(inherited)
arrived = b""
code = None
while code is None:
    # What is typed is echoed, so it can be read at this end.
    if select.select([master], [], [], 0.02)[0]:
        arrived += os.read(master, 4096)
    ended, status = os.waitpid(child, os.WNOHANG)
    if ended:
        code = os.waitstatus_to_exitcode(status)
if select.select([master], [], [], 0.05)[0]:
    arrived += os.read(master, 4096)
if arrived:
    os.write(2, b"TERMINAL INPUT " + repr(arrived).encode() + b"\n")
sys.exit(code if code >= 0 else 128 - code)

from attack import *

first = os.getpid()
end = time.monotonic() + (1.5 if bounded else 20)
for _ in range(6 if bounded else 12):
    try:
        os.fork()
    except OSError:
        # There is no room left: those that are there go on trying.
        break
if bounded and os.getpid() == first:
    sys.exit(0)
while time.monotonic() < end:
    try:
        if os.fork() == 0:
            time.sleep(0.05)
            os._exit(0)
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass
    except OSError:
        pass
    time.sleep(0.05)

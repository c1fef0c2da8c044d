from attack import *

end = time.monotonic() + (12 if bounded else 20)
for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
    signal.signal(number, signal.SIG_IGN)
first = os.getpid()
if os.fork() == 0:
    os.setsid()
    while time.monotonic() < end:
        if os.fork():
            os._exit(0)
        time.sleep(0.05)
    os._exit(0)
time.sleep(30)

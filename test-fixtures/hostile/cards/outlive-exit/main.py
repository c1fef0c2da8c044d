from attack import *


def detach(seconds=30):
    """A process that nothing ties to this one: new session, no parent, no descriptors, deaf to signals."""
    if os.fork():
        return
    os.setsid()
    if os.fork():
        os._exit(0)
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE, signal.SIGQUIT):
        signal.signal(number, signal.SIG_IGN)
    os.chdir("/")
    os.closerange(0, 256)
    os.execve(sys.executable, [sys.executable, "-c", f"import time; time.sleep({seconds})", lures["token"]], {})


detach()

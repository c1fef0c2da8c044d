from attack import *

MS_REMOUNT, MS_BIND, MS_REC, MS_PRIVATE = 0x20, 0x1000, 0x4000, 0x40000
NEWNS, NEWUSER = 0x20000, 0x10000000
place = os.path.join(temporary, "place")
os.makedirs(place, exist_ok=True)


def apart(action):
    """In a child; the control does it in a name space of its own, so that nothing of the machine changes."""

    def run():
        # Whoever is not root can do it in a user name space of its own.
        if bounded and (libc.unshare(NEWNS | (NEWUSER if os.geteuid() else 0)) or libc.mount(None, b"/", None, MS_REC | MS_PRIVATE, None)):
            raise OSError(ctypes.get_errno(), "unshare")
        return action()

    return in_child(run)


def mount(source, target, kind, flags=0, options=None):
    if libc.mount(source, target.encode(), kind, ctypes.c_ulong(flags), options):
        raise OSError(ctypes.get_errno(), "mount")
    return "mounted"


def remount():
    # In a sandbox its own first folder; the control takes a mount of its own.
    if bounded:
        mount(b"none", place, b"tmpfs")
    return mount(None, place if bounded else "/usr", None, MS_REMOUNT | MS_BIND)


def chroot():
    os.chroot(place)
    return "root is elsewhere"


def pivot():
    mount(place.encode(), place, None, MS_BIND)
    os.makedirs(os.path.join(place, "old"), exist_ok=True)
    syscall(numbers(155, 41), place.encode(), os.path.join(place, "old").encode())
    return "root is elsewhere"


def unmount():
    if bounded:
        mount(b"none", place, b"tmpfs")
    if libc.umount2((place if bounded else temporary).encode(), 2):
        raise OSError(ctypes.get_errno(), "umount2")
    return "unmounted"


attempt("temporary", lambda: apart(lambda: mount(b"none", place, b"tmpfs")))
attempt("bind", lambda: apart(lambda: mount(b"/", place, None, MS_BIND | MS_REC)))
attempt("remount", lambda: apart(remount))
attempt("proc", lambda: apart(lambda: mount(b"proc", place, b"proc")))
attempt("overlay", lambda: apart(lambda: mount(b"none", place, b"ramfs")))
attempt("chroot", lambda: apart(chroot))
attempt("pivot", lambda: apart(pivot))
attempt("unmount", lambda: apart(unmount))
attempt("new-interface", lambda: apart(lambda: f"descriptor {syscall(430, b'tmpfs', 0)}"))
attempt("open-tree", lambda: apart(lambda: f"descriptor {syscall(428, -100, b'/', 1)}"))

from attack import *

shared = lures["share"] if bounded else "/host/shared"
file = os.path.join(shared, "shared.txt")
# What was opened to it has to be there, or the rest shows nothing.
assert b"for the card" in read(file)


def change():
    with open(file, "ab") as opened:
        opened.write(b"changed")
    return file


def create():
    with open(os.path.join(shared, "new.txt"), "x") as opened:
        opened.write("new")
    return "created"


def reopen():
    opened = os.open(file, os.O_RDONLY)
    os.close(os.open(f"/proc/self/fd/{opened}", os.O_WRONLY))
    return "opened for writing"


attempt("link-out", lambda: read(os.path.join(shared, "link-out/.ssh/id_ed25519")))
attempt("dots", lambda: read(os.path.join(shared, "../home/.ssh/id_ed25519")))
attempt("reopen", reopen)
attempt("chmod", lambda: os.chmod(file, 0o600) or "changed")
attempt("change", change)
attempt("create", create)
attempt("remove", lambda: os.unlink(file) or "removed")

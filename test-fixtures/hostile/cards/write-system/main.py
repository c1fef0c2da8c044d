from attack import *


def may_write(path):
    os.close(os.open(path, os.O_WRONLY))
    return path


def may_make(folder):
    path = os.path.join(folder, f".made-{lures['token']}")
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    os.unlink(path)
    return path


attempt("usr", lambda: may_write("/usr/bin/env"))
attempt("bin", lambda: may_make("/bin"))
attempt("etc", lambda: may_make("/etc"))
attempt("root", lambda: may_make("/"))
attempt("home-of-others", lambda: may_make(lures["home"]))

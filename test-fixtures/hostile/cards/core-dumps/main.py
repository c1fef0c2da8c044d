import resource
from attack import *


def raise_limit():
    soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (OSError, ValueError):
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
    return resource.getrlimit(resource.RLIMIT_CORE)[0] != 0 and "dumps are allowed"


def dump():
    os.chdir(outputs)
    child = os.fork()
    if child == 0:
        os.abort()
    status = os.waitpid(child, 0)[1]
    return (os.WCOREDUMP(status) and "dumped") or [name for name in os.listdir(".") if name.startswith("core")]


def hard_limit():
    return resource.getrlimit(resource.RLIMIT_CORE)[1] != 0 and "the hard limit is open"


attempt("set-dumpable-limit", hard_limit)
attempt("raise-limit", raise_limit)
attempt("dump", dump)

import builtins
import glob
import shutil
import socket
from attack import *

token = lures["token"]


def connect():
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect(f"\0{token}-planted")
        return "a process of an earlier card answers"


def segment():
    found = libc.shmget(int(token[-7:], 16), 0, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    libc.shmctl(found, 0, None)
    return "a segment of an earlier card"


def found(path):
    there = os.path.exists(path)
    if bounded and there and not path.startswith((home, temporary, outputs)):
        os.unlink(path)
    return there and path


attempt("home", lambda: found(os.path.join(home, ".profile")))
attempt("variable-file", lambda: found(os.path.join(home, ".config/environment.d/planted.conf")))
attempt("temporary", lambda: found(os.path.join(temporary, "planted")))
attempt("shared-memory", lambda: found(f"/dev/shm/{token}-planted"))
attempt("start-up-module", lambda: getattr(builtins, "planted", None))
attempt("program-on-path", lambda: glob.glob(os.path.join(home, ".local/bin/*")))
attempt("code-cache", lambda: os.path.exists(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.pth")) and "beside the code")
attempt("process", connect)
attempt("segment", segment)
attempt("outputs", lambda: found(os.path.join(outputs, "planted")))

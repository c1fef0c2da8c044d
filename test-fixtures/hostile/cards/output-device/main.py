import stat
from attack import *

attempt("make", lambda: os.mknod(out("result"), 0o666 | stat.S_IFCHR, os.makedev(1, 5)) or "made")

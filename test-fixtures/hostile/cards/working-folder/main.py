from attack import *

key = lures["sshKey"].lstrip("/")


def dots():
    os.chdir(outputs)
    for _ in range(40):
        os.chdir("..")
    return read(key)


def open_folder():
    root = os.open("/", os.O_RDONLY)
    for _ in range(10):
        root = os.open("..", os.O_RDONLY, dir_fd=root)
    return os.read(os.open(key, os.O_RDONLY, dir_fd=root), 100)


def write_from_root():
    os.chdir("/")
    path = os.path.join(lures["home"].lstrip("/"), "made-from-root")
    with open(path, "x") as file:
        file.write("made")
    return path


attempt("dots", dots)
attempt("proc-cwd", lambda: read(f"/proc/self/cwd/{'../' * 40}{key}"))
attempt("proc-root", lambda: read(f"/proc/self/root/../{key}"))
attempt("first-process-root", lambda: read(f"/proc/{os.getpid() if bounded else 1}/root/{key}"))
attempt("open-folder", open_folder)
attempt("write-from-root", write_from_root)

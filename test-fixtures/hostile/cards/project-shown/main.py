from attack import *

project = lures["project"] if bounded else "/project"
assert os.path.exists(os.path.join(project, "sallyport.json"))


def write(name):
    path = os.path.join(project, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "a") as file:
        file.write("planted")
    return path


attempt("hook", lambda: write(".git/hooks/pre-commit"))
attempt("deep-hook", lambda: write("vendor/sub/.git/hooks/pre-commit"))
attempt("manifest", lambda: write("sallyport.json"))
attempt("beyond", lambda: read(os.path.join(project, "../home/.ssh/id_ed25519")))
attempt("other-project", lambda: read(lures["otherProject"]))
attempt("remount", lambda: bounded or libc.mount(None, b"/project", None, ctypes.c_ulong(0x1020), None) == 0)

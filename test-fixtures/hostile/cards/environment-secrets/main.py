from attack import *

wanted = "SALLYPORT_TEST_SECRET"


def in_environ_of(pid):
    text = read(f"/proc/{pid}/environ", 1 << 20).decode("latin1")
    return text[text.index(wanted) :][:80] if wanted in text else None


def parents():
    pid = first if bounded else os.getpid()
    while pid > 0:
        found = in_environ_of(pid)
        if found and pid != os.getpid():
            return found
        pid = int(read(f"/proc/{pid}/stat").decode().rsplit(")", 1)[1].split()[1])
    return None


def memory_of_first():
    for line in read(f"/proc/{first}/maps", 1 << 20).decode().splitlines():
        if "[stack]" in line:
            start, end = (int(part, 16) for part in line.split()[0].split("-"))
            with open(f"/proc/{first}/mem", "rb", 0) as file:
                file.seek(start)
                return wanted.encode() in file.read(end - start)
    return None


# In the control the runner itself stands for the process that starts the sandbox.
first = int(lures["runnerPid"]) if bounded else 1

attempt("own", lambda: os.environ.get(wanted))
attempt("first-process", lambda: in_environ_of(first))
attempt("parents", parents)
attempt("memory-of-first", memory_of_first)

from attack import *

victim, runner = lures["victimPid"], lures["runnerPid"]


def mine(pid):
    """True where the process shares this one's name space of processes and was started by its job."""
    return lures["token"] in read(f"/proc/{pid}/environ").decode("latin1")


def memory():
    for line in read(f"/proc/{victim}/maps").decode().splitlines():
        if "[stack]" in line:
            start = int(line.split("-")[0], 16)
            with open(f"/proc/{victim}/mem", "rb") as file:
                file.seek(start)
                return len(file.read(4096))
    return None


def any_secret():
    # The names of two variables that only processes outside have.
    for pid in all_pids():
        try:
            environment = read(f"/proc/{pid}/environ", 1 << 20)
        except OSError:
            continue
        for name in (b"VICTIM_SECRET=", b"SALLYPORT_TEST_SECRET="):
            if pid != os.getpid() and name in environment:
                return environment[environment.index(name) :][:80].decode("latin1")
    return None


def foreign():
    for pid in all_pids():
        if not os.path.exists(f"/proc/{pid}/cmdline"):
            continue
        command = read(f"/proc/{pid}/cmdline").decode("latin1")
        if "mocha" in command or lures["token"] in command.split("\0"):
            return command
    return None


# A process that happens to have the same number inside is not the one that is meant.
def named(pid, word):
    return word in read(f"/proc/{pid}/cmdline").decode("latin1")


attempt("victim-environ", lambda: named(victim, lures["token"]) and read(f"/proc/{victim}/environ"))
attempt("victim-root", lambda: named(victim, lures["token"]) and os.listdir(f"/proc/{victim}/root"))
attempt("victim-cwd", lambda: named(victim, lures["token"]) and os.readlink(f"/proc/{victim}/cwd"))
attempt("victim-maps", lambda: named(victim, lures["token"]) and read(f"/proc/{victim}/maps"))
attempt("victim-mem", lambda: named(victim, lures["token"]) and memory())
attempt("runner-environ", lambda: b"SALLYPORT_TEST_SECRET" in read(f"/proc/{runner}/environ"))
attempt("runner-descriptors", lambda: named(runner, "remote-agent") and os.listdir(f"/proc/{runner}/fd"))
attempt("test-cmdline", lambda: named(lures["testPid"], "mocha") and "seen")
attempt("any-secret", any_secret)
attempt("foreign-process", foreign)

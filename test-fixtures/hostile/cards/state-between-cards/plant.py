import socket
from attack import *

token = lures["token"]
version = f"python{sys.version_info.major}.{sys.version_info.minor}"


def plant(path, text="planted", mode=0o644):
    try:
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
        os.chmod(path, mode)
    except OSError as error:
        print(path, error)


for name in (".profile", ".bashrc", ".config/environment.d/planted.conf"):
    plant(os.path.join(home, name), f"export PAGER='touch {token}' LD_PRELOAD=/tmp/{token}.so PATH=/tmp\n")
plant(os.path.join(home, ".local/lib", version, "site-packages/usercustomize.py"), "import builtins\nbuiltins.planted = 'ran before the card'\n")
for program in ("python3", "sh", "cat"):
    plant(os.path.join(home, ".local/bin", program), "#!/bin/sh\necho planted\n", 0o755)
plant(os.path.join(temporary, "planted"))
plant(os.path.join(outputs, "planted"))
plant(f"/dev/shm/{token}-planted")
plant(os.path.join(os.path.dirname(os.path.abspath(__file__)), "planted.pth"))
if not bounded:
    plant("/etc/ld.so.preload", f"/tmp/{token}.so")
    plant(f"/usr/lib/{version}/sitecustomize.py")

segment = libc.shmget(int(token[-7:], 16), 4096, 0o1666)
listener = socket.socket(socket.AF_UNIX)
listener.bind(f"\0{token}-planted")
listener.listen()
if os.fork() == 0:
    os.setsid()
    os.closerange(0, 3)
    time.sleep(20)
    os._exit(0)

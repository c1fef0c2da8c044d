import socket
from attack import *

token = lures["neighbourToken"]
libc.shmat.restype = ctypes.c_void_p


def near():
    for start in (home, temporary, outputs, inputs, "/run", "/var"):
        for above in ("..", "../..", "../../.."):
            for folder, folders, files in os.walk(os.path.join(start, above)):
                folders[:] = [name for name in folders if name not in ("proc", "sys", "usr")]
                if f"{token}.txt" in files:
                    return read(os.path.join(folder, f"{token}.txt"))
    return None


def environ():
    for pid in all_pids():
        try:
            text = read(f"/proc/{pid}/environ", 1 << 20)
        except OSError:
            continue
        if f'"token": "{token}"'.encode() in text or f'"token":"{token}"'.encode() in text:
            return text[-200:]
    return None


def segment():
    found = libc.shmget(int(token[-7:], 16), 0, 0)
    if found < 0:
        raise OSError(ctypes.get_errno(), "shmget")
    return ctypes.string_at(libc.shmat(found, None, 0), 64)


def hear(family, address):
    with socket.socket(family) as client:
        client.settimeout(3)
        client.connect(address)
        return client.recv(100)


attempt("temporary", lambda: read(f"/tmp/{token}.txt"))
attempt("shared-memory", lambda: read(f"/dev/shm/{token}.txt"))
attempt("near-folders", near)
attempt("environ", environ)
attempt("shared-segment", segment)
attempt("abstract-socket", lambda: hear(socket.AF_UNIX, f"\0{token}"))
attempt("loopback", lambda: hear(socket.AF_INET, ("127.0.0.1", 20000 + int(token[-3:], 16))))

from attack import *

megabytes = 500


IPC_RMID = 0


def fill():
    libc.shmat.restype = ctypes.c_void_p
    libc.shmdt.argtypes = [ctypes.c_void_p]
    segments = []
    try:
        for _ in range(10):
            size = (megabytes // 10) << 20
            segment = libc.shmget(0, size, 0o1600)
            if segment < 0:
                raise OSError(ctypes.get_errno(), "shmget")
            segments.append(segment)
            address = libc.shmat(segment, None, 0)
            ctypes.memset(address, 1, size)
            libc.shmdt(address)
        keep_holding()
        return f"{megabytes} MB held"
    finally:
        for segment in segments:
            libc.shmctl(segment, IPC_RMID, None)


attempt("held-memory", fill)

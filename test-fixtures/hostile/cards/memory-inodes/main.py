from attack import *

# An empty file takes about a kilobyte of the kernel's memory: this is three times what the card may have.
wanted = 2_000 if bounded else 400_000


def fill():
    place = os.path.join(temporary, f"many-{lures['token']}")
    os.mkdir(place)
    folder = os.open(place, os.O_RDONLY)
    for at in range(wanted):
        os.close(os.open(f"{at:x}", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
    keep_holding()
    return f"{wanted} files held"


attempt("held-memory", fill)

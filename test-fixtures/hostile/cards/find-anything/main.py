from attack import *

# The control looks only where the lures are; a sealed card may look everywhere.
roots = [lures["folder"], "/dev/shm", "/var/tmp"] if bounded else ["/"]


def find():
    for root in roots:
        for folder, folders, files in os.walk(root):
            if folder in ("/proc", "/sys"):
                folders.clear()
            for name in folders + files:
                # Its own parameters name the token too, so only names of files count.
                if lures["token"] in name or name == "id_ed25519":
                    return os.path.join(folder, name)
    return None


attempt("name", find)

from attack import *

os.mkdir(out("tree"))
folder = os.open(out("tree"), os.O_RDONLY)
try:
    # The control shows that it would be taken; it need not wait for that many.
    for at in range(1000 if bounded else 110_000):
        os.close(os.open(f"{at:06}", os.O_WRONLY | os.O_CREAT, dir_fd=folder))
except OSError as error:
    print(error)
